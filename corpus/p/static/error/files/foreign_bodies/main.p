fun Open(name: string): int;
fun Done() { }
machine Main { start state S { } }
