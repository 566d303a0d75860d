// expect: holds
machine Main {
  start state S {
    entry {
      var s: seq[int];
      s += (0, 2); s += (0, 1); s += (2, 3);
      assert s[0] == 1 && s[1] == 2 && s[2] == 3 && sizeof(s) == 3;
      s -= (1);
      assert s[1] == 3 && sizeof(s) == 2 && 3 in s && !(2 in s);
    }
  }
}
