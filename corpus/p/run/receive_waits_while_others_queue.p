// expect: holds
event eA: int; event eB;
machine Main {
  var seen: seq[int];
  start state S {
    entry {
      send this, eA, 1; send this, eA, 2; send this, eB;
      receive { case eB: { } }
    }
    on eA do (n: int) { seen += (sizeof(seen), n); if (n == 2) { assert seen[0] == 1; } }
  }
}
