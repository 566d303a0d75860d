// expect: violated unhandled-event 'eA'
event eA;
machine Main { start state S { entry { raise eA; } } }
