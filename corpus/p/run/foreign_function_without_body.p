// expect: unknown Hash
fun Hash(n: int): int;
machine Main { start state S { entry { var x: int; x = Hash(3); } } }
