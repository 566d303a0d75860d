param n, m: int;
machine Main { start state S { } }
fun F(): bool { return true; }
test param (n in [1, 2]) assume m > 0 A [main=Main]: { Main }; //~ bad-test-param @33
test param (n in [1, 2]) assume n / 0 > 0 B [main=Main]: { Main }; //~ bad-test-param
test param (n in [1, 2]) assume F() C [main=Main]: { Main }; //~ bad-test-param
test param (n in [1, 2]) assume n D [main=Main]: { Main }; //~ bad-test-param
test param (n in [1, 2]) assume n && true E [main=Main]: { Main }; //~ bad-test-param
test param (n in [1, 2]) assume missing F [main=Main]: { Main }; //~ bad-test-param
test param (n in [1, 2]) assume n == 1 || sizeof(n) == 1 G [main=Main]: { Main }; //~ bad-test-param
