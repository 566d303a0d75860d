event A; event B: int;
machine W { start state S { entry (x: int) { } ignore A, B; } }
machine Main {
  var n: int; var s: seq[int]; var w: machine;
  fun F(x: int): int { return x; }
  fun G() { return; }
  start state S {
    entry {
      var i: int;
      ;
      { ; }
      { n = 1; { n = 2; } }
      assert n == 2; assert n == 2, "two"; assert n == 2, format("{0}", n);
      print "a"; print format("{0}", n);
      while (n < 5) n = n + 1;
      while (n < 9) { n = n + 1; if (n == 7) break; else continue; }
      foreach (i in s) { n = i; }
      foreach (i in s) n = i;
      if (n == 1) n = 2;
      if (n == 1) { } else if (n == 2) { n = 3; } else n = 4;
      new W(1);
      w = new W(2);
      F(1); G();
      send w, A; send w, B, 1; send this, halt;
      announce A; announce B, 2;
      goto T;
    }
    on A do { raise B, 3; }
    ignore B;
  }
  state T { entry { raise halt; } }
}
