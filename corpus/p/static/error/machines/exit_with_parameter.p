machine Main { start state S { exit (x: int) { } } } //~ syntax-error @37
