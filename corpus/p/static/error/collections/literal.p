machine Main {
  var s: seq[int];
  start state S { entry { s = [1, 2, 3]; } } //~ syntax-error @31
}
