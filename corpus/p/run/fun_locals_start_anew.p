// expect: holds
machine Main {
  start state S { entry { F(); F(); } }
  fun F() { var k: int; var s: seq[int]; assert k == 0 && sizeof(s) == 0; k = 5; s += (0, 1); }
}
