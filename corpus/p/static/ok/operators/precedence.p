machine Main {
  var a, b, c: bool; var n: int; var s: seq[bool];
  start state S {
    entry { a = a || b && c == n < 1; a = n + 1 * 2 < 3 == b; a = b in s && c; a = -n + 1 == 2; n = (1 + 2) * 3; }
  }
}
