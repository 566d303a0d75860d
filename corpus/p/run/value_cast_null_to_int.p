// expect: violated cast
machine Main { start state S { entry { var a: any; var n: int; n = a as int; } } }
