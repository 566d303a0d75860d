// expect: holds
machine Main {
  start state S {
    entry {
      var m: map[int, int]; var k: seq[int];
      m[1] = 1; m[2] = 2; m[3] = 3; m -= (1); m[4] = 4;
      k = keys(m); assert k[0] == 4 && k[1] == 2 && k[2] == 3;
    }
  }
}
