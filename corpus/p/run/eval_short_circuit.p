// expect: holds
machine Main {
  var n: int;
  start state S { entry { var b: bool; b = false && T(); b = true || T(); assert n == 0; b = true && T(); assert n == 1 && b; } }
  fun T(): bool { n = n + 1; return true; }
}
