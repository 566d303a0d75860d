machine Main {
  var n: int;
  start state S { entry { n += (1) + 2; } } //~ collection-update
}
