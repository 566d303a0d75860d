// expect: holds
event eA; event eB;
spec M observes eB { start state S { ignore eB; } }
machine Main { start state S { entry { announce eA; } } }
