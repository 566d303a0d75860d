// expect: holds
event eA; event eB: int;
machine Main {
  var got: int;
  start state S {
    entry {
      send this, eA; send this, eB, 5;
      receive { case eB: (x: int) { got = x; } }
      assert got == 5;
    }
    on eA do { assert got == 5; }
  }
}
