machine Main { start state S { } }
test T [main=Main]: { Main };
implementation T [main=Main]: { Main }; //~ duplicate-name
test T [main=Main]: { Main }; //~ duplicate-name
