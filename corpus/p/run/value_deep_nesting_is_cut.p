// expect: unknown LongHandler
machine Main { start state S { entry { var a: any; while (true) { a = (a,); } } } }
