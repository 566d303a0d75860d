machine Main {
  start state Work { entry { Work(); } }
  fun Work() { } //~ warning legacy-shared-name @7
}
