machine Main {
  start state S { //~ syntax-error @17
    entry { }
