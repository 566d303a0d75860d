machine Main {
  var x: int;
  start state S { entry { x = 1 @ 2; } } //~ unknown-character @33
}
