param n, m: int;
machine Main { start state S { } }
test param (n in [1, 2], m in [1, 2]) (3 wise) A [main=Main]: { Main }; //~ bad-test-param @39
test param (n in [1, 2], m in [1, 2]) (0 wise) B [main=Main]: { Main }; //~ bad-test-param
test (1 wise) C [main=Main]: { Main }; //~ bad-test-param
