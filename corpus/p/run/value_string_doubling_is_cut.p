// expect: unknown LongHandler
machine Main { start state S { entry { var s: string; s = "x"; while (true) { s = s + s; } } } }
