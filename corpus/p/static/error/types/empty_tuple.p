machine Main {
  var t: (); //~ syntax-error
  start state S { }
}
