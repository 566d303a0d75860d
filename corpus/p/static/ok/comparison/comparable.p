event A;
enum E { X, Y }
machine Main {
  var a: any; var m: machine; var e: event; var s: seq[any]; var t: seq[int]; var p: (int, int);
  start state S {
    entry {
      assert a == 1 || a == null || 1 != a;
      assert m == null || m == this || this == m;
      assert e == null || e == A || e == halt;
      assert X == Y || s == t || p == (1, 2) || "a" == "b" || 1.5 == 2.5 || null == null;
    }
  }
}
