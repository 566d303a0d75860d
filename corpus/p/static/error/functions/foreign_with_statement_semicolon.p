machine Main {
  fun F() : int { return 1 } //~ syntax-error @27
  start state S { }
}
