// expect: violated assertion exit ran
event eA;
machine Main { start state S { entry { raise eA; } exit { assert false, "exit ran"; } } }
