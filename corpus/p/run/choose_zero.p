// expect: holds
machine Main { start state S { entry { assert choose(0) == 0; assert choose(1) == 0; } } }
