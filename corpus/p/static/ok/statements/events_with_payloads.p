event Bare; event Num: int; event Pair: (int, bool); event Any: any; event Named: (a: int);
machine Main {
  var e: event;
  start state S {
    entry {
      send this, Bare; send this, Num, 1; send this, Pair, (1, true); send this, Pair, 1, true;
      send this, Any, null; send this, Named, (a = 1,);
      e = Num; send this, e; send this, e, 5; send this, e, 1, 2;
      announce Num, 2; announce e;
      if ($) raise Pair, (1, false);
      raise e, "anything";
    }
    ignore Bare, Num, Pair, Any, Named;
  }
}
