// expect: holds
machine Main {
  var x: int;
  start state S { entry { x = 1; assert Pair(x, Bump()) == 12; } }
  fun Bump(): int { x = 10; return 2; }
  fun Pair(a: int, b: int): int { return 10 * a + b; }
}
