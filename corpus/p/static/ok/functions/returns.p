event A;
fun Both(b: bool): int { if (b) { return 1; } else { return 2; } }
fun Chain(n: int): int { if (n == 1) return 1; else if (n == 2) return 2; else return 3; }
fun After(b: bool): int { if (b) { return 1; } return 2; }
fun Fails(): int { assert false; }
fun FailsWith(): int { assert false, "never"; }
fun Block(): int { { { return 1; } } }
fun Void() { }
fun Early(b: bool) { if (b) { return; } print "x"; }
fun Wide(): any { return; }
fun Nothing(): machine { return null; }
machine Main {
  fun Waits(): int {
    receive { case A: { assert false; } case halt: { return; } }
  }
  start state S { entry { } }
}
