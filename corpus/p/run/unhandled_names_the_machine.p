// expect: violated unhandled-event Worker(2) received event 'eA' that cannot be handled.
event eA;
machine Main { start state S { entry { send new Worker(), eA; } } }
machine Worker { start state S { } }
