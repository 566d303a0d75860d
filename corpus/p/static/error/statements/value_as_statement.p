machine Main {
  var n: int;
  start state S { entry { n; 5; } } //~ syntax-error @28 //~ syntax-error @30
}
