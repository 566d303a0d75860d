machine Main {
  var s: seq[int]; var t: set[int]; var m: map[string, bool]; var n: int; var p: set[(int, int)];
  start state S {
    entry {
      s += ("0", 1); //~ type-mismatch
      s += (0, true); //~ type-mismatch
      s += (1); //~ not-a-collection @7
      s -= true; //~ type-mismatch
      t += (0, 1); //~ not-a-collection
      t += (true); //~ type-mismatch
      t -= "a"; //~ type-mismatch
      m += (1, true); //~ type-mismatch
      m += ("a", 1); //~ type-mismatch
      m += ("a"); //~ not-a-collection
      m -= 1; //~ type-mismatch
      n += (1); //~ not-a-collection
      n += (1, 2); //~ not-a-collection
      n -= 1; //~ not-a-collection
      p += (1, 2); //~ not-a-collection
    }
  }
}
