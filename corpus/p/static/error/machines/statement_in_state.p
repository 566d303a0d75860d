machine Main {
  var x: int;
  start state S {
    x = 1; //~ syntax-error @5
  }
}
