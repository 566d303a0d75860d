// expect: violated assertion announced
event eA: int;
spec M observes eA { start state S { on eA do (x: int) { assert x == 0, "announced"; } } }
machine Main { start state S { entry { announce eA, 1; } } }
