// expect: unknown LongHandler
machine Main { start state S { entry { var x: int; while (true) { x = x + 1; } } } }
