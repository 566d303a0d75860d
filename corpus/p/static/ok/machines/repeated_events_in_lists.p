event A;
eventset S = { A, A };
interface I() receives A, A;
machine W receives A, A; sends A, A; { start state S { } }
spec M observes A, A { start state S { ignore A; } }
machine Main { start state S { } }
