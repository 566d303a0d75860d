// expect: violated choose
machine Main { start state S { entry { var x: int; x = 10001; x = choose(x); } } }
