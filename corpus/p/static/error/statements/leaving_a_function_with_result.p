event A;
machine Main {
  fun F(): int { raise A; } //~ goto-in-function @18
  fun G(): int { goto S; } //~ goto-in-function
  fun H(): int {
    receive { case A: { raise A; } } //~ goto-in-function @25
    return 1;
  }
  start state S { entry { assert F() == G() + H(); } ignore A; }
}
