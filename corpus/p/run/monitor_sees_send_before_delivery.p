// expect: violated assertion seven
event eA: int;
spec M observes eA { start state S { on eA do (x: int) { assert x != 7, "seven"; } } }
machine Main { start state S { entry { send this, eA, 7; assert false, "too late"; } on eA do { } } }
test T [main=Main]: assert M in { Main };
