machine Main { state S { } } //~ no-start-state @9
