fun Spawn() creates Main, Main; //~ syntax-error
machine Main { start state S { } }
