event A;
machine Main { start state S { on A; } } //~ syntax-error @36
