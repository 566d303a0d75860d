// expect: holds
machine Main {
  start state S {
    entry { var x: int; x = 2147483647; x = (x + 1) * 2147483647 * 2 + (x + 1) * 2; assert x == -(x) && x < 0; assert x - 1 > 0; }
  }
}
