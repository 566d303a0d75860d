event A;
machine Main { start state S { entry { receive { case A { } } } } } //~ syntax-error
