// expect: holds
event eA: (int, bool);
machine Main {
  start state S {
    entry { raise eA, (3, true); }
    on eA do (p: (int, bool)) { assert p.0 == 3 && p.1; }
  }
}
