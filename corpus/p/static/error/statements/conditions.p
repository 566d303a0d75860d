machine Main {
  var n: int; var a: any;
  start state S {
    entry {
      if (n) { } //~ type-mismatch @11
      while (1) { } //~ type-mismatch @14
      assert n; //~ type-mismatch
      assert a; //~ type-mismatch
      assert null; //~ type-mismatch
      assert true, 5; //~ type-mismatch
      if (a == 1) { } else if ("x") { } //~ type-mismatch
    }
  }
}
