// expect: holds
event eA;
machine Main {
  start state S {
    entry {
      var i: int;
      send this, eA; send this, eA;
      while (i < 2) {
        receive { case eA: { var k: int; assert k == 0; k = 5; } }
        i = i + 1;
      }
    }
  }
}
