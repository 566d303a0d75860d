machine Main {
  var n, m: int;
  start state S { entry { n = m = 1; } } //~ assignment-in-expression
}
