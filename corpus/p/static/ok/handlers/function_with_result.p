event A;
machine Main {
  fun H(): int { return 1; }
  start state S { entry H; on A do H; }
}
