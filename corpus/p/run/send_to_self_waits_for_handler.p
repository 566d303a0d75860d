// expect: holds
event eA;
machine Main { var n: int; start state S { entry { send this, eA; n = 1; } on eA do { assert n == 1; } } }
