machine Main {
  var n: int; var f: float; var b: bool; var s: string;
  start state S {
    entry {
      n = n + f; //~ bad-operands @13
      n = n * b; //~ bad-operands
      s = s * s; //~ bad-operands
      s = s % s; //~ bad-operands
      n = null + 1; //~ bad-operands
      n = -b; //~ bad-operands
      n = -s; //~ bad-operands
    }
  }
}
