event A: int; event B: int;
machine Main {
  fun H(x: int) { }
  start state S { on A, B do H; }
  state T { on A do H; on B goto S with H; }
}
