machine Main { start state S { } }
test T: { Main }; //~ syntax-error @7
test U [Main]: { Main }; //~ syntax-error
test V [main=Main] { Main }; //~ syntax-error
test [main=Main]: { Main }; //~ syntax-error
implementation [main=Main]: { Main }; //~ syntax-error
