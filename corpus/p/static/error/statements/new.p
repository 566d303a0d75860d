spec Watch observes halt { start state S { } }
machine Bare { start state S { } }
machine One { start state S { entry (x: int) { } } }
machine Pair { start state S { entry (p: (int, bool)) { } } }
machine Named { start state S { entry (p: (a: int, b: bool)) { } } }
machine Any { start state S { entry (a: any) { } } }
machine Main {
  start state S {
    entry {
      new Bare(1); //~ payload-mismatch @16
      new One(); //~ payload-mismatch @11
      new One(true); //~ payload-mismatch @15
      new One(1, 2); //~ payload-mismatch
      new Pair(1, 2); //~ type-mismatch @19
      new Named(1, true); //~ payload-mismatch
      new Any(); //~ payload-mismatch @11
      new Watch(); //~ unknown-interface @11
      new Missing(); //~ unknown-interface @11
    }
  }
}
