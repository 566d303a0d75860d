machine Main {
  start state S {
    entry {
      var x: int;
      var x: bool; //~ duplicate-name @11
      x = 1;
    }
  }
}
