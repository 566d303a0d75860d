event A: int;
param limit: int;
fun Double(x: int): int { return x + x; }
fun Lookup(x: int): int;
spec M observes A { start state S { on A do (x: int) { assert Double(x) + Lookup(x) > limit; } } }
machine Main { start state S { } }
