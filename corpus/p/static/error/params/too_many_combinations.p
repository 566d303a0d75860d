param a, b, c, d, e, f: int;
machine Main { start state S { } }
test param ( //~ bad-test-param @6
  a in [1, 2, 3, 4, 5, 6, 7, 8, 9], b in [1, 2, 3, 4, 5, 6, 7, 8, 9], c in [1, 2, 3, 4, 5, 6, 7, 8, 9],
  d in [1, 2, 3, 4, 5, 6, 7, 8, 9], e in [1, 2, 3, 4, 5, 6, 7, 8, 9], f in [1, 2, 3, 4, 5, 6, 7, 8, 9]
) T [main=Main]: { Main };
