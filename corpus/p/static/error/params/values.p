param n: int;
param b: bool;
param s: string;
machine Main { start state S { } }
test param (n in [1, 1]) A [main=Main]: { Main }; //~ bad-test-param @22
test param (n in [1, true]) B [main=Main]: { Main }; //~ bad-test-param @22
test param (n in [true]) C [main=Main]: { Main }; //~ bad-test-param
test param (b in [0]) D [main=Main]: { Main }; //~ bad-test-param
test param (s in [1]) E [main=Main]: { Main }; //~ bad-test-param
test param (n in [1], n in [2]) F [main=Main]: { Main }; //~ bad-test-param @23
test param (x in [1]) G [main=Main]: { Main }; //~ unknown-param @13
