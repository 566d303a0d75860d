fun Even(n: int): bool { if (n == 0) { return true; } return Odd(n - 1); }
fun Odd(n: int): bool { if (n == 0) { return false; } return Even(n - 1); }
machine Main { start state S { entry { assert Even(10); } } }
