event A; event B;
scenario Both observes A, B {
  start state S { on A goto T; ignore B; }
  state T { on B goto Done; ignore A; }
  cold state Done { ignore A, B; }
}
machine Main { start state S { } }
