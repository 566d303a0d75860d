// expect: holds
event eA;
spec M observes eA { start state S { ignore eA; } }
machine Main { start state S { entry { announce eA; } } }
