// expect: holds
event eA: seq[int];
spec M observes eA { start state S { on eA do (s: seq[int]) { s += (0, 9); } } }
machine Main {
  start state S {
    entry { var s: seq[int]; s += (0, 1); send this, eA, s; }
    on eA do (s: seq[int]) { assert sizeof(s) == 1 && s[0] == 1; }
  }
}
