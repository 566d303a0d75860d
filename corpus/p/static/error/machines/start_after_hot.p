machine Main { hot start state S { } } //~ syntax-error @20
