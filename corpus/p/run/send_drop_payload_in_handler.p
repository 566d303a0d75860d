// expect: holds
event eA: int;
machine Main { start state S { entry { send this, eA, 1; } on eA do { } } }
