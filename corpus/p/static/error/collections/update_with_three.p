machine Main {
  var t: set[(int, int, int)];
  start state S { entry { t += (1, 2, 3); } } //~ collection-update
}
