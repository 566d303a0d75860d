// expect: violated missing-field 'y'
machine Main { start state S { entry { var a: any; var t: (y: int); a = (x = 1,); t = a as (y: int); assert t.y == 1; } } }
