// expect: violated assertion counted
machine Main {
  start state S { entry {
    var x: int; var s: seq[int];
    while (x < 3000) { x = x + 1; if (x % 1000 == 0) { s += (0, x); } }
    assert sizeof(s) != 3, "counted";
  } }
}
