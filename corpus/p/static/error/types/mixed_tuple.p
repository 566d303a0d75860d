machine Main {
  var t: (a: int, bool); //~ syntax-error
  start state S { }
}
