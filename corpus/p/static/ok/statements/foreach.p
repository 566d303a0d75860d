event A;
machine Main {
  var s: seq[int]; var t: set[machine]; var m: map[int, bool]; var i: int; var w: machine; var b: bool;
  start state S {
    entry {
      foreach (i in s) { }
      foreach (w in t) { send w, A; }
      foreach (i in keys(m)) { foreach (b in values(m)) { if (b) break; } continue; }
    }
    ignore A;
  }
}
