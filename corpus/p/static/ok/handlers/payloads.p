event Bare; event Num: int; event Any: any; event One: (int); event Ref: Main;
machine Main {
  fun H(x: int) { }
  fun N() { }
  start state S {
    on Bare do (x: any) { }
    on Num do H;
    on Any do (x: any) { }
    on One do (x: int) { }
    on Ref do (m: machine) { }
    on null do (e: event) { }
    on halt do (d: data) { }
  }
  state T {
    on Bare do N;
    on Num do N;
    on Any, One, Ref do { }
    on null do (m: machine) { }
  }
  state U {
    on Num do (x: any) { }
    on One do (x: (int)) { }
    on Bare, null, halt do (x: any) { }
  }
}
