param n: int;
param s: seq[int];
machine Main {
  start state S {
    entry {
      n = 1; //~ param-misuse @7
      s += (0, 1); //~ param-misuse
      s[0] = 2; //~ param-misuse
      foreach (n in s) { } //~ param-misuse @16
    }
  }
}
