machine Main {
  var n: int = 5; //~ no-initializer @14
  start state S { entry { var x: int = 1; } } //~ no-initializer @38
}
