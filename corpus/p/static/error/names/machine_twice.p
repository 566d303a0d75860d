machine Main { start state S { } }
machine Main { start state S { } } //~ duplicate-name @9
