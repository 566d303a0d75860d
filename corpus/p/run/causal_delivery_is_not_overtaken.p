// expect: holds
event eA: machine; event eB;
machine Main {
  start state S {
    entry { var b: machine; b = new B(); send b, eA, null; new C(b); }
  }
}
machine C { start state S { entry (b: machine) { send b, eB; } } }
machine B {
  var n: int;
  start state S { on eA do (m: machine) { n = 1; } on eB do { assert n == 1, "overtaken"; } }
}
