machine Main {
  var t: (a: int, b: int);
  start state S { entry { t = (a = 1, 2); } } //~ syntax-error
}
