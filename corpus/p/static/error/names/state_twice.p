machine Main {
  start state S { }
  state S { } //~ duplicate-name @9
}
