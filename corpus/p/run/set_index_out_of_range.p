// expect: violated index
machine Main { start state S { entry { var s: set[int]; s += (5); assert s[1] == 5; } } }
