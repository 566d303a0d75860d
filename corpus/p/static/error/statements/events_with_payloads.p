event Bare; event Num: int; event Pair: (int, bool); event Any: any; event Named: (a: int, b: int);
machine Main {
  start state S {
    entry {
      send this, Bare, 1; //~ payload-mismatch @24
      send this, Num; //~ payload-mismatch @18
      send this, Num, true; //~ payload-mismatch @23
      send this, Num, 1, 2; //~ payload-mismatch
      send this, Pair, 1; //~ payload-mismatch
      send this, Pair, 1, 2; //~ type-mismatch
      send this, Any; //~ payload-mismatch
      send this, Named, 1, 2; //~ payload-mismatch
      send this, halt, 1; //~ payload-mismatch
      announce Num; //~ payload-mismatch
      raise Num, "one"; //~ payload-mismatch
    }
  }
}
