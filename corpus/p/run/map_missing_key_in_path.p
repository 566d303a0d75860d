// expect: violated missing-key
machine Main { start state S { entry { var m: map[int, seq[int]]; m[1] += (0, 1); } } }
