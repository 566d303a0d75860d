event A: (int, int);
machine Main { start state S { on A do (x: int, y: int) { } } } //~ syntax-error @47
