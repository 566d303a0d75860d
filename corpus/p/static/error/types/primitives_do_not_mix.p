machine Main {
  var b: bool; var i: int; var f: float; var s: string;
  start state S {
    entry {
      b = 1; //~ type-mismatch
      i = true; //~ type-mismatch
      i = 1.0; //~ type-mismatch
      f = 1; //~ type-mismatch
      s = 1; //~ type-mismatch
      i = "1"; //~ type-mismatch
    }
  }
}
