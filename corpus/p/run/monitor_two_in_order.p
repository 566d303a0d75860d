// expect: violated assertion first
event eA;
spec M1 observes eA { start state S { on eA do { assert false, "first"; } } }
spec M2 observes eA { start state S { on eA do { assert false, "second"; } } }
machine Main { start state S { entry { announce eA; } } }
test T [main=Main]: assert M1, M2 in { Main };
