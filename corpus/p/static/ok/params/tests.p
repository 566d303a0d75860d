param n, m: int;
param b: bool;
machine Main { start state S { } }
test param (n in [1, 2]) A [main=Main]: { Main };
test param (n in [1, -2, 0], b in [true, false, true]) B [main=Main]: { Main };
test param (n in [1, 2], m in [3, 4], b in [true, false]) pairwise C [main=Main]: { Main };
test param (n in [1, 2], m in [3, 4], b in [true, false]) (1 wise) D [main=Main]: { Main };
test param (n in [1, 2], m in [3, 4], b in [true, false]) (3 wise) E [main=Main]: { Main };
test param (n in [1, 2], m in [2, 3]) assume n < m F [main=Main]: { Main };
test param (n in [1, 2], m in [2, 3]) assume (n + m) % 2 == 1 && !(n == m) || -n > m / 2 * 3 - 1 (1 wise) G [main=Main]: { Main };
test param (n in [1, 2], m in [2, 3]) assume n != m pairwise H [main=Main]: { Main };
test assume true I [main=Main]: { Main };
