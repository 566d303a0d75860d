machine Main { start state S { entry (x: int) { } } } //~ warning bad-main @9
