machine Main {
  start state S { entry { print "value {0}"; } } //~ bad-format
}
