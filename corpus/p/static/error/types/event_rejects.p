machine Main {
  var e: event;
  var m: machine;
  start state S {
    entry {
      e = 1; //~ type-mismatch
      e = m; //~ type-mismatch
      e = "A"; //~ type-mismatch
    }
  }
}
