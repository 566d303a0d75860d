machine Main {
  start state S {
    entry {
      if (true) {
        var x: int; //~ late-declaration @9
        x = 1;
      }
    }
  }
}
