machine Main {
  var b: (id: int);
  start state S { entry { b = (id = 5); } } //~ missing-comma @31
}
