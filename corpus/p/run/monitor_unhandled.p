// expect: violated monitor-unhandled 'eB'
event eA; event eB;
spec M observes eA, eB { start state S { on eA do { } } }
machine Main { start state S { entry { announce eA; announce eB; } } }
