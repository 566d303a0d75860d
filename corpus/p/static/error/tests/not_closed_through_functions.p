fun Make() { new W(); }
fun Hidden(): machine creates V;
machine Main { start state S { entry { Make(); Hidden(); } } }
machine W { start state S { } }
machine V { start state S { } }
test T [main=Main]: { Main, W }; //~ not-closed
test U [main=Main]: { Main, V }; //~ not-closed
