// expect: violated null-event
machine Main { start state S { entry { var e: event; send this, e; } } }
