// expect: holds
event eA: int;
spec M observes eA {
  var log: seq[int];
  start state S {
    entry { log += (0, 0); }
    exit { log += (sizeof(log), 1); }
    on eA goto T with (x: int) { log += (sizeof(log), x); }
  }
  state T { entry (x: int) { assert x == 2 && log[0] == 0 && log[1] == 1 && log[2] == 2; } }
}
machine Main { start state S { entry { announce eA, 2; } } }
