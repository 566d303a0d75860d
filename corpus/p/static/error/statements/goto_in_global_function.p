fun F() { goto S; } //~ goto-in-function @11
machine Main { start state S { entry { F(); } } }
