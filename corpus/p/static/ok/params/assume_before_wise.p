param n, m: int;
machine Main { start state S { } }
test param (n in [1, 2], m in [2, 3]) assume n == m (1 wise) T [main=Main]: { Main };
