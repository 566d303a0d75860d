// expect: holds
machine Main {
  var x: int;
  start state S { entry { x = 1; assert (x + 0) + Bump() == 3; } }
  fun Bump(): int { x = 10; return 2; }
}
