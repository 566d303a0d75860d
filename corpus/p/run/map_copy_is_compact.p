// expect: holds
machine Main {
  start state S {
    entry {
      var m: map[int, int]; var c: map[int, int]; var k: seq[int];
      m[1] = 1; m[2] = 2; m[3] = 3; m -= (1); c = m; c[4] = 4;
      k = keys(c); assert k[0] == 2 && k[1] == 3 && k[2] == 4;
      m[4] = 4; k = keys(m); assert k[0] == 4; assert m == c;
    }
  }
}
