machine Main {
  start state S { entry { var x = 5; } } //~ syntax-error @33
}
