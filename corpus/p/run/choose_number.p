// expect: violated assertion two
machine Main { start state S { entry { assert choose(3) != 2, "two"; } } }
