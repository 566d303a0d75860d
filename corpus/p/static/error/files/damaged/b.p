machine Main { start state S { ignore E; } }
