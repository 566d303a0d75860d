// expect: holds
event eA: int;
machine Main {
  start state S {
    entry {
      var s: seq[int]; var x: int; var sum: int;
      s += (0, 1); s += (1, 2); s += (2, 3);
      foreach (x in s) { send this, eA, x; receive { case eA: (y: int) { sum = sum + y; } } }
      assert sum == 6;
    }
  }
}
