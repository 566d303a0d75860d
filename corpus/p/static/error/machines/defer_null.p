machine Main { start state S { defer null; } } //~ syntax-error @38
