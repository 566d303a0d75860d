// expect: holds
fun Fact(n: int): int { if (n <= 1) { return 1; } return n * Fact(n - 1); }
machine Main { start state S { entry { assert Fact(10) == 3628800; } } }
