// expect: holds
machine Main {
  var n: int;
  start state S { on null do { n = n + 1; if (n == 3) { goto T; } } }
  state T { entry { assert n == 3; } }
}
