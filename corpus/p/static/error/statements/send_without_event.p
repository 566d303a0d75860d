machine Main { start state S { entry { send this; } } } //~ syntax-error @49
