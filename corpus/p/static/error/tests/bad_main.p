spec M observes halt { start state S { } }
machine Main { start state S { } }
machine W { start state S { } }
machine P { start state S { entry (x: int) { } } }
test A [main=W]: { Main }; //~ bad-main @14
test B [main=P]: { P }; //~ bad-main @14
test C [main=Missing]: { Main }; //~ unknown-interface @14
test D [main=M]: { Main }; //~ unknown-interface @14
