machine Main {
  var s: seq[int]; var m: map[string, int]; var n: int; var t: (int, int);
  start state S {
    entry {
      n = s["a"]; //~ type-mismatch
      n = m[1]; //~ type-mismatch
      n = n[0]; //~ not-a-collection @11
      n = t[0]; //~ not-a-collection
    }
  }
}
