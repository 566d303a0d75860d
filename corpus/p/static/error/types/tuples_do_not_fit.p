machine Main {
  var p: (int, int); var q: (a: int, b: int); var r: (int, int, int); var one: (int);
  start state S {
    entry {
      p = (1, 2, 3); //~ type-mismatch
      p = (1, true); //~ type-mismatch
      p = q; //~ type-mismatch
      q = p; //~ type-mismatch
      q = (b = 1, a = 2); //~ type-mismatch
      q = (a = 1, c = 2); //~ type-mismatch
      r = p; //~ type-mismatch
      one = 5; //~ type-mismatch
    }
  }
}
