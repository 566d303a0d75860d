event A;
eventset Worker = { A };
machine Worker { start state S { } }
machine Main { start state S { entry { new Worker(); } } }
