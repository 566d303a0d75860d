machine Main {
  start state S { entry { print 5; } } //~ type-mismatch @33
}
