machine Main {
  var b: bool;
  start state S { entry { b = true & false; } } //~ unknown-character
}
