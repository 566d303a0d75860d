machine Main {
  start state S { entry { push T; pop; } } //~ removed-syntax //~ removed-syntax
  state T { }
}
