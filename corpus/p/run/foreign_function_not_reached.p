// expect: holds
fun Hash(n: int): int;
machine Main { start state S { entry { var x: int; if (x == 1) { x = Hash(3); } } } }
