// expect: violated index
event eA;
spec M observes eA { var s: seq[int]; start state S { on eA do { assert s[0] == 1; } } }
machine Main { start state S { entry { announce eA; } } }
