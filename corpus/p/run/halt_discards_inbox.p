// expect: holds
event eA;
machine Main { start state S { entry { send this, halt; send this, eA; } } }
