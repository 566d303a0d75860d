spec M observes Missing { start state S { } } //~ unknown-event @17
