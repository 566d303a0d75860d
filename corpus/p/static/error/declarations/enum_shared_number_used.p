enum E { A = 1, B = 1 }
machine Main { var e: E; start state S { entry { e = A; e = B; } } } //~ enum-number-shared @61
