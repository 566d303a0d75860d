// expect: holds
machine Main {
  var x: int;
  start state S { entry { x = 1; assert x + Bump() == 12; } }
  fun Bump(): int { x = 10; return 2; }
}
