machine Main {
  var s: string;
  start state S { entry { print format(s, 1); } } //~ syntax-error @40
}
