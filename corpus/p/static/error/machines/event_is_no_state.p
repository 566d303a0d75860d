event A;
machine Main { start state S { on A do A; } } //~ unknown-function
