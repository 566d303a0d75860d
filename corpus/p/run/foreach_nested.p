// expect: holds
machine Main {
  start state S {
    entry {
      var s: seq[int]; var x: int; var y: int; var n: int;
      s += (0, 1); s += (1, 2);
      foreach (x in s) { foreach (y in s) { if (y > x) { break; } n = n + 1; } }
      assert n == 3;
    }
  }
}
