// expect: violated assertion fired
machine Main {
  start state S { on null goto T; }
  state T { entry { assert false, "fired"; } }
}
