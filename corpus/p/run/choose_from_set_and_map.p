// expect: holds
machine Main {
  start state S {
    entry { var s: set[int]; var m: map[int, bool]; s += (4); s += (5); m[7] = true; m[8] = true; assert choose(s) in s; assert choose(m) in m; }
  }
}
