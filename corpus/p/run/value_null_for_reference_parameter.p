// expect: violated cast
event eA: seq[int];
machine Main { start state S { entry { var e: event; e = eA; send this, e; } on eA do (x: seq[int]) { assert sizeof(x) == 0; } } }
