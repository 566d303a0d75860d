// expect: holds
machine Main {
  start state S {
    entry { var s: seq[int]; var x: int; s += (0, 1); s += (1, 2); foreach (x in s) { break; } assert x == 1; }
  }
}
