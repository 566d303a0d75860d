// expect: holds
machine Main {
  start state S {
    entry {
      var m: map[string, int]; var k: seq[string]; var v: seq[int];
      m["b"] = 1; m["a"] = 2; k = keys(m); v = values(m);
      assert k[0] == "b" && k[1] == "a" && v[0] == 1 && v[1] == 2;
      m -= ("b"); assert !("b" in m) && sizeof(m) == 1; m -= ("zzz");
    }
  }
}
