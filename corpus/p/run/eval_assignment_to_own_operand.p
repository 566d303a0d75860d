// expect: holds
machine Main { start state S { entry { var x: bool; var y: bool; x = true; x = y || x; assert x; x = !y && x; assert x; x = (1, x).1; assert x; } } }
