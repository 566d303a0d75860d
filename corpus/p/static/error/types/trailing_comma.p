machine Main {
  var t: (int,); //~ syntax-error @14
  start state S { }
}
