event E; //~ duplicate-name @7
machine Main { start state S { } } //~ duplicate-name
