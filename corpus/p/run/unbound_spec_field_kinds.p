// expect: holds
event eA: (id: int);
spec M observes eA { var seen: set[int]; start state S { on eA do (p: (id: int)) { assert !(p.id in seen); seen += (p.id); } } }
machine Main { start state S { entry { var i: int; while (i < 4) { announce eA, (id = i,); i = i + 1; } } } }
