// expect: violated index
machine Main { start state S { entry { var s: seq[int]; s[0] = 1; } } }
