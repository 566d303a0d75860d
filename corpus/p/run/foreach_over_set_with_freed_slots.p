// expect: holds
machine Main {
  start state S {
    entry {
      var s: set[int]; var x: int; var log: seq[int];
      s += (1); s += (2); s += (3); s -= (2);
      foreach (x in s) { log += (sizeof(log), x); }
      assert sizeof(log) == 2 && log[0] == 1 && log[1] == 3;
    }
  }
}
