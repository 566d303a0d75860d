machine Main {
  start state S {
    entry {
      print "one //~ warning line-break-in-string
two";
    }
  }
}
