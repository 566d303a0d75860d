// expect: violated assertion order differs
event eA: int;
spec M observes eA { var first: int; start state S { on eA do (k: int) { if (first == 0) { first = k; announceOrder(k); } } } fun announceOrder(k: int) { } }
machine Main {
  var n: int;
  start state S {
    entry { new W((m = this, k = 1)); new W((m = this, k = 2)); }
    on eA do (k: int) { n = n + 1; if (n == 1) { assert k == 1, "order differs"; } }
  }
}
machine W { start state S { entry (p: (m: machine, k: int)) { send p.m, eA, p.k; } } }
