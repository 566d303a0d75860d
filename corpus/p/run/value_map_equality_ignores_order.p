// expect: holds
machine Main {
  start state S {
    entry { var a: map[int, int]; var b: map[int, int]; a[1] = 10; a[2] = 20; b[2] = 20; b[1] = 10; assert a == b; b[1] = 11; assert a != b; }
  }
}
