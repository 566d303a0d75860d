event A: (int, int);
machine Main {
  fun Two(x: int, y: int) { }
  fun One(x: int) { }
  start state S {
    entry Two; //~ bad-handler @11
    exit One; //~ bad-handler @10
    on A do Two; //~ bad-handler
  }
}
