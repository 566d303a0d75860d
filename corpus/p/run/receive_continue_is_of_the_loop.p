// expect: holds
event eA;
machine Main {
  start state S {
    entry {
      var i: int; var after: int;
      send this, eA; send this, eA;
      while (i < 2) {
        i = i + 1;
        receive { case eA: { continue; } }
        after = after + 1;
      }
      assert after == 0;
    }
  }
}
