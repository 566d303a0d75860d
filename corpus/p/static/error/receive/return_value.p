event A;
machine Main {
  fun F(): int {
    receive { case A: { return 1; } } //~ receive-case @32
    return 2;
  }
  start state S { entry { assert F() == 2; } }
}
