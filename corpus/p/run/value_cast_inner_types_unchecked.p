// expect: violated cast
machine Main {
  start state S { entry { var a: any; var q: seq[any]; var s: seq[int]; q += (0, "x"); a = q; s = a as seq[int]; assert s[0] + 1 == 2; } }
}
