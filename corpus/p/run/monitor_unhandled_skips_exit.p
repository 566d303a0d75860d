// expect: violated monitor-unhandled
event eA;
spec M observes eA { start state S { exit { assert false, "exit ran"; } } }
machine Main { start state S { entry { announce eA; } } }
