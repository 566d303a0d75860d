machine Main {
  var n: int;
  start state S { entry { n++; } } //~ syntax-error @28
}
