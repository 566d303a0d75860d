// strict
machine Main {
  fun Work() { }
  start state Work { entry { Work(); } }
}
