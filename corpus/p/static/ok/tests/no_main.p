machine Worker { start state S { } }
