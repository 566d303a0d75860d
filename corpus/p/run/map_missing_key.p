// expect: violated missing-key
machine Main { start state S { entry { var m: map[int, int]; m[1] = 1; assert m[2] == 0; } } }
