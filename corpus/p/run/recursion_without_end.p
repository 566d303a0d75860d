// expect: unknown LongHandler
fun Down(n: int): int { return Down(n + 1) + 1; }
machine Main { start state S { entry { var x: int; x = Down(0); } } }
