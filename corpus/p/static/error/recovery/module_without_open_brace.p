machine Main { start state S { } }
test T [main=Main]: Main }; //~ syntax-error @25
test U [main=Main]: { Main };
