machine Main {
  start state S {
    entry { }
    exit { }
    entry { } //~ duplicate-entry @5
    exit { } //~ duplicate-entry @5
  }
}
