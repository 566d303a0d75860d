fun F(x: int) { }
machine Main { start state S { entry { F(1,); } } } //~ syntax-error @43
