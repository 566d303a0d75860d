event Bare; event Num: int; event Flag: bool;
machine Main {
  start state S {
    on Bare goto T; //~ payload-mismatch @8
    on Flag goto T; //~ payload-mismatch @8
    on Num goto T with (b: bool) { } //~ payload-mismatch @25
  }
  state T { entry (n: int) { } }
}
