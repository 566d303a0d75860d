// expect: violated cast
event eA: int;
machine Main { start state S { entry { var e: event; e = eA; send this, e; } on eA do (x: int) { } } }
