event Num: int; event Flag: bool;
machine Main {
  start state S { on Num, Flag do (x: int) { } } //~ payload-mismatch
}
