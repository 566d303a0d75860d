machine Main {
  var s: seq[int]; var t: set[(int, int)]; var m: map[string, bool]; var u: set[int];
  start state S {
    entry {
      s += (0, 1); s -= 0; s[0] = 2;
      t += ((1, 2)); t -= (1, 2);
      m += ("a", true); m["b"] = false; m -= "a";
      u += (1); u -= (1); u -= 1;
    }
  }
}
