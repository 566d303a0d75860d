machine Main {
  var x: int;
  start state S { entry { x = true ? 1 : 2; } } //~ unknown-character @36
}
