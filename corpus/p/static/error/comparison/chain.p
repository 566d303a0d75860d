machine Main {
  var a, b, c: int;
  start state S { entry { assert a < b < c; } } //~ bad-operands
}
