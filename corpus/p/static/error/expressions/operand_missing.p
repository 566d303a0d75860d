machine Main {
  var n: int;
  start state S { entry { n = 1 + ; n = * 2; } } //~ syntax-error @35 //~ syntax-error @41
}
