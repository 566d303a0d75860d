// expect: violated assertion attached
event eA;
spec M observes eA { start state S { on eA do { assert false, "attached"; } } }
machine Main { start state S { entry { announce eA; } } }
