// expect: violated null-event
event eA;
machine Main { start state S { entry { var e: event; announce e; } ignore eA; } }
