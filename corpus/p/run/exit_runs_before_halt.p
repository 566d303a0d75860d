// expect: violated assertion exit ran
machine Main { start state S { entry { raise halt; } exit { assert false, "exit ran"; } } }
