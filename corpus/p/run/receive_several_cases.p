// expect: holds
event eA: int; event eB: bool; event eC;
machine Main {
  var n: int;
  start state S {
    entry {
      send this, eB, true; send this, eC; send this, eA, 4;
      while (n < 3) {
        receive {
          case eA: (x: int) { assert x == 4; n = n + 1; }
          case eB: (b: bool) { assert b; n = n + 1; }
          case eC: { n = n + 1; }
        }
      }
    }
  }
}
