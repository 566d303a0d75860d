machine Main {
  var t: (int, (a: bool, b: seq[int])); var m: map[int, (x: seq[int])];
  start state S { entry { t.0 = 1; t.1.a = true; t.1.b[0] = 2; m[1].x[2] = 3; m[4] = (x = default(seq[int]),); } }
}
