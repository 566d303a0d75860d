fun F(): int { } //~ missing-return @16
fun G(b: bool): int { if (b) { return 1; } } //~ missing-return
fun H(b: bool): int { while (b) { return 1; } } //~ missing-return
fun I(n: int): int { if (n == 1) return 1; else if (n == 2) return 2; } //~ missing-return
fun J(b: bool): int { assert b; } //~ missing-return
event A; event B;
machine Main {
  fun K(): int { receive { case A: { return; } case B: { } } } //~ missing-return
  start state S { }
}
