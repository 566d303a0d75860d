machine Main { start state S { state T { fun F() { state U { var x: int; start state V {
