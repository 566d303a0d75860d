// expect: violated assertion halted
spec M observes halt { start state S { on halt do { assert false, "halted"; } } }
machine Main { start state S { entry { send this, halt; } } }
