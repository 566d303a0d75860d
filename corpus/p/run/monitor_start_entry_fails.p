// expect: violated assertion at once
event eA;
spec M observes eA { start state S { entry { assert false, "at once"; } on eA do { } } }
machine Main { start state S { entry { } } }
