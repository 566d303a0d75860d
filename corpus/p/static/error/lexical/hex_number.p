machine Main {
  var n: int;
  start state S { entry { n = 0xff; n = 1_000; } } //~ syntax-error @31 //~ syntax-error @41
}
