// expect: violated choose
machine Main { start state S { entry { var s: seq[int]; var x: int; x = choose(s); } } }
