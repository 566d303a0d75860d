// expect: violated endless-handler calls itself
fun Even(n: int): bool { return Odd(n); }
fun Odd(n: int): bool { return Even(n); }
machine Main { var n: int; start state S { entry { var x: bool; n = 5; x = Even(n); } } }
