// expect: violated assertion seen
event eA;
spec M observes eA { start state S { on eA do { assert false, "seen"; } } }
machine Main { start state S { entry { new W(); } } }
machine W { start state S { entry { announce eA; } } }
test T [main=Main]: (union { Main }, (assert M in { W }));
