event E;
spec M observes E { start state S { ignore E; } }
scenario N observes E { start state S { on E goto T; } cold state T { ignore E; } }
machine Main { start state S { } }
test T [main=Main]: assert M, N in { Main };
