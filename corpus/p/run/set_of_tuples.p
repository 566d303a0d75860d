// expect: holds
machine Main { start state S { entry { var s: set[(int, int)]; s += ((1, 2)); assert (1, 2) in s && !((2, 1) in s); } } }
