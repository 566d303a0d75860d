event A assert 1; //~ warning legacy-queue-bound @9
event B assume 3: int; //~ warning legacy-queue-bound
machine Main assert 2 { start state S { ignore A, B; } } //~ warning legacy-queue-bound
