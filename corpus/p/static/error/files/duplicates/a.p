event E;
machine Main { start state S { } }
