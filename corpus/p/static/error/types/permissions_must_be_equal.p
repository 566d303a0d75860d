event A;
event B;
eventset Ab = { A, B };
machine Main {
  var x: Ab;
  var y: A;
  var m: machine;
  start state S {
    entry {
      x = y; //~ type-mismatch
      y = x; //~ type-mismatch
      x = this; //~ type-mismatch
      x = m; //~ type-mismatch
    }
  }
}
