event A;
spec M observes A { state S { ignore A; } }
machine Main { start state S { } }
