// expect: holds
machine Main { start state S { entry { var x: int; var y: int; x = 2147483647; y = (x + 1) * 2; x = y + 2; assert x % y == 2 && y % 7 == 4; } } }
