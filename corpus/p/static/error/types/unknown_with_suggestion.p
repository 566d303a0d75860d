type Counter = int;
machine Main { var x: Countr; start state S { } } //~ unknown-type
