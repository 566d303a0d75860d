param n: int;
machine Main { start state S { } }
test param (n in [1, 2]) pairwise A [main=Main]: { Main }; //~ warning no-test-cases @26
test param (n in [1, 2]) assume n > 5 B [main=Main]: { Main }; //~ warning no-test-cases
test param (n in [1, 2]) assume n > 5 (1 wise) C [main=Main]: { Main }; //~ warning no-test-cases
test assume false D [main=Main]: { Main }; //~ warning no-test-cases
