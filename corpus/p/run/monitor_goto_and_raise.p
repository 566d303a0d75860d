// expect: holds
event eA: int; event eInner: int;
spec M observes eA {
  var n: int;
  start state S { on eA do (x: int) { n = x; raise eInner, x + 1; } on eInner goto T; }
  state T { entry (y: int) { assert y == n + 1; goto U; } }
  state U { on eA do (x: int) { assert x == 2; } }
}
machine Main { start state S { entry { announce eA, 1; announce eA, 2; } } }
