machine Main {
  var t: (int, bool); var q: (a: int, b: bool); var n: int; var s: seq[int];
  start state S {
    entry {
      n = t.2; //~ no-such-field @13
      n = t.a; //~ no-such-field
      n = q.c; //~ no-such-field @13
      n = q.0; //~ no-such-field
      n = n.x; //~ no-such-field
      n = s.0; //~ no-such-field
    }
  }
}
