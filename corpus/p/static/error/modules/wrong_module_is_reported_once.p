machine Main { start state S { } }
module M = { Main, Nobody }; //~ unknown-interface @20
module N = { Mian }; //~ unknown-interface
test T [main=Main]: M;
test U [main=Main]: N;
test V [main=Main]: { Mian }; //~ unknown-interface
