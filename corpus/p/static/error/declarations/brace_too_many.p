machine Main { start state S { } } } //~ syntax-error @36
