// expect: holds
machine Main {
  start state S {
    entry {
      var a: set[int]; var b: set[int]; var s: set[set[int]]; var m: map[set[int], int];
      a += (1); a += (2); b += (2); b += (1);
      assert a == b; s += (a); assert b in s; s += (b); assert sizeof(s) == 1;
      m[a] = 1; m[b] = 2; assert sizeof(m) == 1 && m[a] == 2;
    }
  }
}
