spec M observes { start state S { } } //~ syntax-error
