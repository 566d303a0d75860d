machine Main {
  var s: string;
  start state S { entry { s = s - "a"; } } //~ bad-operands
}
