machine Main {
  var n: int;
  start state S { entry { n *= 2; } } //~ syntax-error
}
