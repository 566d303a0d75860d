// expect: holds
event eA: int;
machine Main {
  var last: map[machine, int];
  start state S {
    entry { new W(this); new W(this); }
    on eA do (k: int) { last[this] = k; }
  }
}
machine W { start state S { entry (m: machine) { send m, eA, 1; send m, eA, 2; } } }
