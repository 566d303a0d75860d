machine Main {
  start state S { entry { print format("{0}", 1, 2); } } //~ bad-format
}
