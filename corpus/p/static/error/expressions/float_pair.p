machine Main {
  var f: float;
  start state S { entry { f = float(1, 2); } } //~ unsupported-module @31
}
