// expect: violated index
machine Main { start state S { entry { var s: seq[int]; s += (0, 1); assert s[1] == 1; } } }
