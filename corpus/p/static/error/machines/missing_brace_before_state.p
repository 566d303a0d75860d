machine Main {
  start state S {
    entry { }

  state T { //~ syntax-error @3
  }
}
machine Other { start state S { } }
