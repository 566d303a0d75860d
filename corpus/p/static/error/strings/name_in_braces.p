machine Main {
  start state S { entry { print format("{x}", 1); } } //~ bad-format @41
}
