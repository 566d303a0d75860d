// expect: holds
machine Main { start state S { entry { var a: any; var t: (y: int); a = (x = 1, y = 2); t = a as (y: int); assert t.y == 2; } } }
