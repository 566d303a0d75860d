event A;
fun F() { raise A; }
machine Main { start state S { entry { F(); } ignore A; } }
