machine Main {
  var x: int, y: bool; //~ syntax-error
  start state S { }
}
