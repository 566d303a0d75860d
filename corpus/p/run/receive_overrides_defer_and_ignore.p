// expect: holds
event eA; event eB;
machine Main {
  var n: int;
  start state S {
    defer eA; ignore eB;
    entry {
      send this, eA; send this, eB;
      receive { case eB: { n = n + 1; } }
      receive { case eA: { n = n + 1; } }
      assert n == 2;
    }
  }
}
