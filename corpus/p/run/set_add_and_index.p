// expect: holds
machine Main {
  start state S {
    entry {
      var s: set[int];
      s += (5); s += (3); s += (5);
      assert sizeof(s) == 2 && s[0] == 5 && s[1] == 3 && 3 in s;
      s -= (5); s -= (77); assert s[0] == 3; s += (9); assert s[0] == 9;
    }
  }
}
