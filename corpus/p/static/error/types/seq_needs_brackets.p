machine Main {
  var s: seq(int); //~ syntax-error @13
  start state S { }
}
