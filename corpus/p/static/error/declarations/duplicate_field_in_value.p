machine Main {
  var t: any;
  start state S { entry { t = (a = 1, b = 2, a = 3); } } //~ duplicate-field
}
