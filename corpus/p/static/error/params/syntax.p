param n: int;
param s: string;
machine Main { start state S { } }
test param (n in []) A [main=Main]: { Main }; //~ syntax-error
test param (s in ["a"]) B [main=Main]: { Main }; //~ syntax-error @19
test param (n in [1.5]) C [main=Main]: { Main }; //~ syntax-error
test param () D [main=Main]: { Main }; //~ syntax-error
test param (n = 1) E [main=Main]: { Main }; //~ syntax-error
