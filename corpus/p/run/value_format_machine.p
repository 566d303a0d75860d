// expect: violated assertion this is Main(1)
machine Main { start state S { entry { assert false, format("this is {0}", this); } } }
