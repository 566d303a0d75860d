machine Main {
  start state S { entry { print "a } b"; } } //~ bad-format
}
