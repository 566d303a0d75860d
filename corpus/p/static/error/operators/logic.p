machine Main {
  var b: bool; var n: int;
  start state S {
    entry {
      b = n && b; //~ bad-operands
      b = b || 1; //~ bad-operands
      b = !n; //~ bad-operands
      n = !b; //~ type-mismatch
    }
  }
}
