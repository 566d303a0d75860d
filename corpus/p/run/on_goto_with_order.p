// expect: holds
event eA: int;
machine Main {
  var log: seq[int];
  start state A {
    entry { send this, eA, 9; }
    exit { log += (sizeof(log), 1); }
    on eA goto B with (x: int) { assert x == 9; log += (sizeof(log), 2); }
  }
  state B {
    entry (x: int) { log += (sizeof(log), 3); assert x == 9; assert log[0] == 1; assert log[1] == 2; assert log[2] == 3; }
  }
}
