// expect: holds
event eA;
machine Main { start state S { entry { var w: machine; w = new W(); send w, halt; send w, eA; send w, eA; } } }
machine W { start state S { } }
