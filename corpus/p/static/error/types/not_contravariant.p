machine Main {
  var s: seq[any]; var t: set[any]; var m: map[any, any];
  var si: seq[int]; var ti: set[int]; var mi: map[int, int];
  start state S {
    entry {
      si = s; //~ type-mismatch
      ti = t; //~ type-mismatch
      mi = m; //~ type-mismatch
    }
  }
}
