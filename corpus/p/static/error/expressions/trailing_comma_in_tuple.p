machine Main {
  var t: (int, int);
  start state S { entry { t = (1, 2,); } } //~ syntax-error @36
}
