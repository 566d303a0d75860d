// expect: violated assertion nine
machine Main { start state S { entry { var s: seq[int]; s += (0, 4); s += (1, 9); assert choose(s) != 9, "nine"; } } }
