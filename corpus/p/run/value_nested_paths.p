// expect: holds
machine Main {
  var m: map[int, (f: seq[int], g: map[string, (int, bool)])];
  start state S {
    entry {
      m[1] = default((f: seq[int], g: map[string, (int, bool)]));
      m[1].f += (0, 4); m[1].f += (1, 5); m[1].f[1] = 6;
      m[1].g["x"] = (1, true); m[1].g["x"].0 = 8;
      assert m[1].f[1] == 6 && m[1].g["x"].0 == 8 && m[1].g["x"].1;
      m[1].f -= (0);
      assert sizeof(m[1].f) == 1 && m[1].f[0] == 6;
    }
  }
}
