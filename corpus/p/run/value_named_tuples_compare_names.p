// expect: holds
machine Main { start state S { entry { var a: any; var b: any; a = (x = 1,); b = (y = 1,); assert a != b; a = (y = 1,); assert a == b; } } }
