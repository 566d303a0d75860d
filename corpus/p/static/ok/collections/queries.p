machine Main {
  var s: seq[int]; var t: set[int]; var m: map[string, bool]; var n: int; var k: seq[string]; var v: seq[bool];
  start state S { entry { n = sizeof(s) + sizeof(t) + sizeof(m); k = keys(m); v = values(m); } }
}
