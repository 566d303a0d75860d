// expect: holds
enum E { A = 2, B = 7 }
machine Main { start state S { entry { var e: E; e = B; assert e to int == 7; assert e != A; } } }
