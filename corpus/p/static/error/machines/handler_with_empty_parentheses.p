event A;
machine Main { start state S { on A do () { } } } //~ syntax-error @40
