// expect: holds
machine Main {
  start state S {
    entry { var t: (int, (a: int, b: bool)); t.0 = 3; t.1.a = 4; t.1.b = true; assert t == (3, (a = 4, b = true)); }
  }
}
