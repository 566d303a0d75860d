// strict
machine Main {
  start state Work { entry { Work(); } }
  fun Work() { } //~ legacy-shared-name
}
