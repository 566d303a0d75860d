// expect: violated null-event
event eA;
machine Main { start state S { entry { var e: event; raise e; } on eA do { } } }
