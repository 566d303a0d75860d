event A;
machine Main {
  state Second { entry { F(); } }
  fun F() { x = 1; }
  start state First { on A goto Second; }
  var x: int;
}
