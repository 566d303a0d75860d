event A;
machine Main observes A { start state S { } } //~ syntax-error @14
