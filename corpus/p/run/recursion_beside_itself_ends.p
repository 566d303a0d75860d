// expect: holds
// Each call returns before the next with the same arguments.
fun Fib(n: int): int { if (n < 2) { return n; } return Fib(n - 1) + Fib(n - 2); }
fun Left(n: int): int { if (n == 0) { return 0; } return Left(0) + Left(n - 1) + Left(0); }
fun Turns(n: int): int {
  var i: int;
  while (i < 20) { i = i + Left(0) + 1; }
  if (n > 0) { return Turns(n - 1); }
  return Left(0) + i;
}
machine Main {
  var calls: int;
  start state S {
    entry {
      assert Fib(9) == 34;
      assert Left(60) == 0;
      assert Turns(12) == 20;
      Down(200);
      assert calls == 201;
    }
  }
  fun Down(n: int) { calls = calls + 1; if (calls <= 200) { Down(n); } }
}
