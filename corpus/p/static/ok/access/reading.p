machine Main {
  var t: (int, (a: bool, b: seq[int])); var m: map[int, (x: int)]; var z: set[int]; var n: int; var b: bool;
  start state S {
    entry { n = t.0; b = t.1.a; n = t.1.b[0]; n = m[1].x; n = z[0]; n = (1, 2).0; n = (a = 1, b = 2).b; }
  }
}
