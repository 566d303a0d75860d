// expect: holds
event eA: seq[int];
machine Main {
  start state S {
    entry { var s: seq[int]; s += (0, 1); send this, eA, s; s[0] = 2; }
    on eA do (s: seq[int]) { assert s[0] == 1; }
  }
}
