machine Main { start state S { entry () { } } } //~ syntax-error
