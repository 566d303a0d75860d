// expect: holds
event eA;
machine Main { start state S { entry { var w: machine; w = new Worker(); send w, halt; send w, eA; } } }
machine Worker { start state S { ignore eA; entry { receive { case eA: { } } } } }
