param n: int;
machine Main { start state S { } }
test param (n in [2147483648]) T [main=Main]: { Main }; //~ integer-too-large
