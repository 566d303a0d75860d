// expect: holds
machine Main {
  var log: seq[int];
  start state A {
    entry { log += (0, 1); goto B, 7; }
    exit { log += (sizeof(log), 2); }
  }
  state B {
    entry (x: int) { assert x == 7; assert sizeof(log) == 2 && log[1] == 2; }
  }
}
