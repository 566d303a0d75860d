machine Main {
  start state S { entry { if true { } } } //~ syntax-error @30
}
