// strict
event A assert 1; //~ legacy-queue-bound
machine Main { start state S { ignore A; } }
