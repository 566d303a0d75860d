machine Main {
  var n: int;
  start state S { entry { n = 0xff; } } //~ syntax-error
}
