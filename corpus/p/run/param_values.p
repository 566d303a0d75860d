// expect: violated assertion three
param k: int;
machine Main { start state S { entry { assert k != 3 || k == 0, "three"; } } }
test param (k in [3]) T [main=Main]: { Main };
