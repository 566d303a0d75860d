// expect: holds
event eA;
machine Main {
  var n: int;
  start state S {
    entry {
      var i: int;
      send this, eA; send this, eA;
      while (i < 2) {
        receive { case eA: { if (true) { break; } n = 100; } }
        i = i + 1;
      }
      assert i == 2 && n == 0;
    }
  }
}
