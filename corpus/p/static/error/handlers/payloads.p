event Bare; event Num: int; event Flag: bool; event Any: any;
machine Main {
  fun H(x: int) { }
  start state S {
    on Bare do (x: int) { } //~ payload-mismatch @17
    on Num do (x: bool) { } //~ payload-mismatch
    on Flag do H; //~ payload-mismatch @8
    on Any do (x: int) { } //~ payload-mismatch
    on null do (x: seq[int]) { } //~ payload-mismatch
    on halt do (x: string) { } //~ payload-mismatch
  }
}
