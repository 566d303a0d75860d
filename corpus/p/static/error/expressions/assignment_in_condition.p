machine Main {
  var n: int;
  start state S { entry { if (n = 1) { } } } //~ assignment-in-expression @33
}
