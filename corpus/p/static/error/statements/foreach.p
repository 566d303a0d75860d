machine Main {
  var s: seq[int]; var a: any; var m: map[int, int]; var i: int; var b: bool;
  start state S {
    entry {
      foreach (a in s) { } //~ type-mismatch @16
      foreach (b in s) { } //~ type-mismatch
      foreach (i in m) { } //~ not-a-collection @21
      foreach (i in i) { } //~ not-a-collection
      foreach (missing in s) { } //~ unknown-name @16
    }
  }
}
