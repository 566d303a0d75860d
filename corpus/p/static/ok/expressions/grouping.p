machine Main {
  var n: int; var b: bool; var t: (int);
  start state S { entry { n = ((1)); b = (true); t = ((1),); t = ((1,)); n = ((1, 2)).1; } }
}
