// expect: holds
machine Main {
  start state S { on null do (x: any) { assert x == null; goto T; } }
  state T { }
}
