event A: seq int; //~ syntax-error @14
type = int; //~ syntax-error @6
machine Main {
  start state { } //~ syntax-error @15
}
