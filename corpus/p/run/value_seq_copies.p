// expect: holds
machine Main {
  start state S {
    entry { var a: seq[int]; var b: seq[int]; a += (0, 1); b = a; b[0] = 2; b += (1, 3); assert a[0] == 1 && sizeof(a) == 1; }
  }
}
