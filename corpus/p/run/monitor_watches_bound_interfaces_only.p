// expect: holds
event eA;
spec M observes eA { start state S { on eA do { assert false; } } }
machine Main { start state S { entry { new W(); } } }
machine W { start state S { entry { announce eA; } } }
test T [main=Main]: (union (assert M in { Main }), { W });
