fun F(x: int) {
  var x: int; //~ duplicate-name
}
event E: int;
machine Main {
  start state S { on E do (y: int) { var y: int; } } //~ duplicate-name
}
