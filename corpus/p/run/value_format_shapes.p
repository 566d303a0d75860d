// expect: holds
event eA;
machine Main {
  start state S {
    entry {
      var q: seq[int]; var t: set[int]; var m: map[string, int];
      q += (0, 1); q += (1, 2); t += (3); t += (1); m["b"] = 1; m["a"] = 2;
      assert format("{0}", q) == "(1, 2)";
      assert format("{0}", t) == "(<1>, <3>)";
      assert format("{0}", m) == "(<a->2>, <b->1>)";
      assert format("{0}", (1, true)) == "<1,True,>";
      assert format("{0}", (x = 1, y = "s")) == "<x:1, y:s, >";
      assert format("{0} {1}", eA, 2.0) == "eA 2";
      assert format("{{{0}}}", 1) == "{{1}}";
    }
  }
}
