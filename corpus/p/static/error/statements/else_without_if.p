machine Main {
  var n: int;
  start state S { entry { if (n == 1) n = 2; n = 3; else n = 4; } } //~ syntax-error @53
}
