// expect: violated null-target
event eA;
machine Main { start state S { entry { var m: machine; send m, eA; } } }
