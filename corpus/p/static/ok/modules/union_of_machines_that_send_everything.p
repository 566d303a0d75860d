machine Main { start state S { } }
machine W { start state S { } }
test T [main=Main]: (union { Main }, { W });
