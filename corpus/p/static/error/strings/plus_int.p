machine Main {
  var s: string;
  start state S { entry { s = s + 1; } } //~ bad-operands
}
