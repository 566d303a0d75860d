machine Main { start state S { } }
machine W { start state S { } }
test T [main=Main]: (compose { Main }, { W }); //~ module-conflict @40
