machine Main {
  start state S {
    state T { } //~ syntax-error @5
  }
}
