machine Main {
  var n: int;
  start state S { entry { n = 2147483648; } } //~ integer-too-large
}
