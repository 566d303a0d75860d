event A; event B;
interface I() receives A;
interface J(int) receives A;
machine W receives A, B; { start state S { } }
machine V receives A, B; { start state S { entry (x: any) { } } }
machine Main { start state S { entry { new I(); new J(1); } } }
test T [main=Main]: { Main, W -> I, V -> J };
