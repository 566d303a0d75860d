machine Main {
  var a, b: bool; var n: int;
  start state S { entry { if (a) if (b) n = 1; else n = 2; } }
}
