// expect: violated choose
machine Main { start state S { entry { var x: int; x = choose(-1); } } }
