machine Main { start state S { } }
test T [main=Main]: main Nobody in { Main }; //~ warning bad-main @26
