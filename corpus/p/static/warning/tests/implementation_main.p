machine Main { start state S { } }
machine P { start state S { entry (x: int) { } } }
implementation A [main=P]: { P }; //~ warning bad-main @24
implementation B [main=P]: { Main }; //~ warning bad-main @24
implementation C [main=Missing]: { Main }; //~ warning bad-main @24
