// expect: holds
machine Main { start state S { entry { var x: int; x = choose(5); assert x >= 0 && x < 5; } } }
