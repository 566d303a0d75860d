// expect: holds
param k: int; param b: bool;
machine Main { start state S { entry { assert k == 0 && !b; } } }
test T [main=Main]: { Main };
