// expect: holds
machine Main { start state S { entry { var a: any; var b: any; a = (1, 2); b = (x = 1, y = 2); assert a != b; } } }
