machine Main {
  start state S { entry { print "C:\p\files"; } } //~ bad-escape
}
