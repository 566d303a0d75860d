event A;
spec M observes A { start state S { ignore A; } start state T { ignore A; } } //~ duplicate-start
