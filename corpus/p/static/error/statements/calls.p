fun Zero() { }
fun Two(a: int, b: bool): int { return a; }
machine Main {
  var n: int;
  start state S {
    entry {
      Zero(1); //~ wrong-argument-count @7
      n = Two(1); //~ wrong-argument-count @11
      Two(1, 2); //~ type-mismatch @14
      n = Two(true, 1); //~ type-mismatch //~ type-mismatch
      n = Zero(); //~ type-mismatch
    }
  }
}
