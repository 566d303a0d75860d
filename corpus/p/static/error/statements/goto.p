machine Main {
  start state One {
    entry {
      goto Two; //~ wrong-argument-count @7
      goto Two, true; //~ type-mismatch @17
      goto Two, 1, 2; //~ wrong-argument-count
      goto One, 1; //~ wrong-argument-count
    }
  }
  state Two { entry (n: int) { } }
}
