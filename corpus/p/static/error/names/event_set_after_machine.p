event A;
machine Worker { start state S { } }
eventset Worker = { A }; //~ duplicate-name @10
