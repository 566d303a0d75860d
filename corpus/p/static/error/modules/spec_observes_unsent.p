event A; event B;
spec M observes A, B { start state S { ignore A, B; } }
machine Main sends A; { start state S { } }
test T [main=Main]: assert M in { Main }; //~ module-conflict @28
