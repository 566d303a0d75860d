// expect: holds
machine Main {
  start state S {
    entry {
      var s: seq[int]; var x: int; var n: int;
      s += (0, 1); s += (1, 2);
      foreach (x in s) { s += (0, 9); n = n + 1; }
      assert n == 2 && sizeof(s) == 4;
    }
  }
}
