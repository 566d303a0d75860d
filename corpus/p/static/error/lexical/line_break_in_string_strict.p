// strict
machine Main {
  start state S {
    entry {
      print "one //~ line-break-in-string
two";
    }
  }
}
