machine Main { start state S { entry { receive { } } } } //~ syntax-error @50
