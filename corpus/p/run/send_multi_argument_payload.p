// expect: holds
event eA: (int, bool);
machine Main { start state S { entry { send this, eA, 4, true; } on eA do (p: (int, bool)) { assert p.0 == 4 && p.1; } } }
