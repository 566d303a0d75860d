// expect: holds
event eA; event eB;
machine Main {
  var n: int;
  start state S {
    entry {
      send this, eB; send this, eA;
      receive { case eA: { n = 1; receive { case eB: { n = n + 1; } } } }
      assert n == 2;
    }
  }
}
