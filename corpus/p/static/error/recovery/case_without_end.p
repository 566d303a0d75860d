event A; event B;
machine Main {
  var n: int;
  start state S {
    entry {
      receive {
        case A: { n = 1; //~ syntax-error @17
        case B: { n = 2; }
      }
      n = 3;
    }
  }
}
