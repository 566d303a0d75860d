machine Main {
  var n: int;
  start state S { entry { n = 99999999999999999999999999; } } //~ integer-too-large
}
