machine Main {
  var s: seq[int]; var m: map[string, int]; var b: bool; var n: int;
  start state S {
    entry {
      b = "a" in s; //~ type-mismatch
      b = 1 in m; //~ type-mismatch
      b = 1 in n; //~ not-a-collection
      b = !n in s; //~ bad-operands
    }
  }
}
