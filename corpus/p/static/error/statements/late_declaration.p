machine Main {
  var n: int;
  start state S {
    entry {
      n = 1;
      var x: int; //~ late-declaration @7
      x = n;
    }
  }
}
