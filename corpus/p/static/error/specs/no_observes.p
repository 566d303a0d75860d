spec M { start state S { } } //~ syntax-error @8
