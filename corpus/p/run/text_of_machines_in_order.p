// expect: holds
// Elements of a set are sorted by their texts, so that the tenth machine comes before the second.
machine Main {
  start state S {
    entry {
      var all: set[machine];
      var i: int;
      while (i < 9) { all += (new Other()); i = i + 1; }
      assert format("{0}", all) == "(<Other(10)>, <Other(2)>, <Other(3)>, <Other(4)>, <Other(5)>, <Other(6)>, <Other(7)>, <Other(8)>, <Other(9)>)", format("{0}", all);
      assert format("{0}", this) < "Other";
    }
  }
}
machine Other { start state S { } }
