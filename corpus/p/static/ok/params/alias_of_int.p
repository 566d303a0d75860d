type Id = int;
param n: Id;
machine Main { start state S { } }
test param (n in [1]) T [main=Main]: { Main };
