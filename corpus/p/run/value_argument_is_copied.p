// expect: holds
machine Main {
  var t: (a: seq[int], b: int);
  start state S { entry { t.a += (0, 1); Change(t.a); assert t.a[0] == 1; } }
  fun Change(s: seq[int]) { s[0] = 99; }
}
