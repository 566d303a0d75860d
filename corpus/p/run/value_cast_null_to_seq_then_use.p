// expect: violated cast
machine Main { start state S { entry { var a: any; var n: seq[int]; n = a as seq[int]; n += (0, 1); } } }
