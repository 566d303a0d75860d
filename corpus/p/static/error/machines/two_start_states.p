machine Main {
  start state A { }
  start state B { } //~ duplicate-start @3
}
