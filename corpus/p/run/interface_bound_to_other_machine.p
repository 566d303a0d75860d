// expect: violated assertion other
event eA;
interface I(int) receives eA;
machine Main { start state S { entry { send new I(3), eA; } } }
machine Real receives eA; { start state S { entry (n: int) { assert n == 3; } on eA do { assert false, "other"; } } }
test T [main=Main]: { Main, Real -> I };
