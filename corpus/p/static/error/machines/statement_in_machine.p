machine Main {
  start state S { }
  print "a"; //~ syntax-error @3
}
