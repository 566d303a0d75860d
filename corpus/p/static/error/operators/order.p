enum E { X, Y }
machine Main {
  var b: bool; var m: machine;
  start state S {
    entry {
      b = 1 < 2.0; //~ bad-operands
      b = X < Y; //~ bad-operands
      b = true > false; //~ bad-operands
      b = m <= m; //~ bad-operands
    }
  }
}
