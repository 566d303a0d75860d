event A;
enum E { X }
enum G { Z }
machine Main {
  var p: (int, int); var q: (a: int, b: int); var s: seq[int]; var t: set[int];
  start state S {
    entry {
      assert 1 == 1.0; //~ not-comparable @16
      assert 1 != null; //~ not-comparable
      assert X == Z; //~ not-comparable
      assert X == 0; //~ not-comparable
      assert this == null; //~ not-comparable
      assert p == q; //~ not-comparable
      assert s == t; //~ not-comparable
      assert A == this; //~ not-comparable
      assert "1" == 1; //~ not-comparable
    }
  }
}
