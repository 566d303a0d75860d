event A;
machine Main {
  fun F(): int { Leave(); return 1; }
  fun Leave() { raise A; }
  start state S { entry { assert F() == 1; } ignore A; }
}
