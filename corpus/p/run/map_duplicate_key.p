// expect: violated duplicate-key
machine Main { start state S { entry { var m: map[int, int]; m[1] = 1; m[1] = 2; m -= (9); m += (1, 3); } } }
