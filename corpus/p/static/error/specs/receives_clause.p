event A;
spec M observes A receives A; { start state S { ignore A; } } //~ syntax-error
