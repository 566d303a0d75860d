event A;
machine Main {
  var m: machine;
  var a: any;
  start state S {
    entry {
      m = 1; //~ type-mismatch
      m = A; //~ type-mismatch
      m = a; //~ type-mismatch
      m = "Main"; //~ type-mismatch
    }
  }
}
