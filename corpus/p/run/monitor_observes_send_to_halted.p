// expect: violated assertion still seen
event eA;
spec M observes eA { start state S { on eA do { assert false, "still seen"; } } }
machine Main { start state S { entry { var w: machine; w = new W(); send w, halt; send w, eA; } } }
machine W { start state S { ignore eA; } }
