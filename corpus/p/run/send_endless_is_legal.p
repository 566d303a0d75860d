// expect: holds
event eA;
machine Main { start state S { entry { var w: machine; w = new W(); while (true) { send w, eA; } } } }
machine W { var n: int; start state S { on eA do { n = 1 - n; } } }
