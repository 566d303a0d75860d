event A;
spec M observes A { }
machine Main { start state S { } }
