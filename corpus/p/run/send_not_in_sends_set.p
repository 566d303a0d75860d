// expect: violated sends-set eB
event eA; event eB;
machine Main sends eA; { start state S { ignore eA, eB; entry { var e: event; e = eB; send this, eA; send this, e; } } }
