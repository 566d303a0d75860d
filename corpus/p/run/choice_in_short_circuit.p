// expect: holds
machine Main { start state S { entry { var n: int; if ($ && $) { n = 3; } assert n == 0 || n == 3; } } }
