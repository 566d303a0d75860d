event A;
machine Other { start state Elsewhere { } }
machine Main {
  start state S {
    entry { goto Nowhere; } //~ unknown-state @18
    on A goto Elsewhere; //~ unknown-state @15
  }
}
