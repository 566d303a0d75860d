// expect: violated assertion second won
event eA: int;
machine Main {
  var n: int;
  start state S {
    entry { new W((m = this, k = 1)); new W((m = this, k = 2)); }
    on eA do (k: int) { n = n + 1; if (n == 1) { assert k == 1, "second won"; } }
  }
}
machine W { start state S { entry (p: (m: machine, k: int)) { send p.m, eA, p.k; } } }
