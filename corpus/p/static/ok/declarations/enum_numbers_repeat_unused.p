enum E { A = 1, B = 1, C = 2 }
machine Main { var e: E; start state S { entry { e = A; e = C; } } }
