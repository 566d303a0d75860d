machine Main {
  var m: map[int]; //~ syntax-error
  start state S { }
}
