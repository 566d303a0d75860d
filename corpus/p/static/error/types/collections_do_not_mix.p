machine Main {
  var s: seq[int]; var t: set[int]; var m: map[int, int];
  start state S {
    entry {
      s = t; //~ type-mismatch
      t = s; //~ type-mismatch
      m = s; //~ type-mismatch
    }
  }
}
