// expect: violated assertion handled
machine Main { start state S { entry { raise halt; } on halt do { assert false, "handled"; } } }
