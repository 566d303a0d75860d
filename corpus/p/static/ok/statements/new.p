interface I(int) receives;
machine Bare { start state S { } }
machine One { start state S { entry (x: int) { } } }
machine Pair { start state S { entry (p: (int, bool)) { } } }
machine Any { start state S { entry (a: any) { } } }
machine Main {
  start state S {
    entry {
      new Bare(); new One(1); new Pair((1, true)); new Pair(1, true); new Any(null); new Any(1);
    }
  }
}
