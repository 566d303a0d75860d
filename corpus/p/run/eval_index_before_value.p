// expect: holds
machine Main {
  var s: seq[int]; var i: int;
  start state S { entry { s += (0, 0); s += (1, 0); s[i + 0] = Next(); assert s[0] == 7 && s[1] == 0; } }
  fun Next(): int { i = 1; return 7; }
}
