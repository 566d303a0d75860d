// expect: violated division-by-zero
machine Main { start state S { entry { var z: int; z = 5 / z; } } }
