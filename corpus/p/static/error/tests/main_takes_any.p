machine Main { start state S { entry (x: any) { } } }
test T [main=Main]: { Main }; //~ bad-main
