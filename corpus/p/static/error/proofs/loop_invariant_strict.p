// strict
machine Main {
  var s: seq[int];
  start state S {
    entry {
      var i: int;
      foreach (i in s) invariant i >= 0; { } //~ proof-not-checked
    }
  }
}
