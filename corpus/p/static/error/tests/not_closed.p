machine Main { start state S { entry { new W(); } } }
machine W { start state S { } }
test T [main=Main]: { Main }; //~ not-closed @6
implementation I [main=Main]: { Main }; //~ not-closed @16
