machine Main {
  var n: int; var f: float; var b: bool; var s: string;
  start state S {
    entry {
      n = 1 + 2 - 3 * 4 / 5 % 6; n = -n; n = - - n; f = 1.0 + 2.0 - f * f / f % f; f = -f; s = s + "x";
      b = n < 1 && n <= 1 || n > 1 && n >= 1; b = f < 1.0; b = !b; b = !(n == 1); b = $ || $$;
    }
  }
}
