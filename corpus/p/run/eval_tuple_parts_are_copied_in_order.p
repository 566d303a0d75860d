// expect: holds
machine Main {
  var x: int;
  start state S { entry { var t: (int, int); x = 1; t = (x, Bump()); assert t.0 == 1 && t.1 == 2; } }
  fun Bump(): int { x = 10; return 2; }
}
