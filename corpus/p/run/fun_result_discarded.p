// expect: holds
machine Main { var n: int; start state S { entry { F(); assert n == 1; } } fun F(): int { n = n + 1; return 3; } }
