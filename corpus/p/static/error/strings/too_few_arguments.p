machine Main {
  start state S { entry { print format("{0} {1}", 1); } } //~ bad-format @40
}
