// expect: holds
machine Main {
  start state S {
    entry {
      var s: seq[int]; var x: int; var sum: int;
      s += (0, 1); s += (1, 2); s += (2, 3);
      foreach (x in s) { if (x == 2) { continue; } sum = sum + x; }
      assert sum == 4 && x == 3;
    }
  }
}
