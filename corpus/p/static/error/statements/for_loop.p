machine Main {
  var i: int;
  start state S { entry { for (i = 0; i < 3; i = i + 1) { } } } //~ syntax-error
}
