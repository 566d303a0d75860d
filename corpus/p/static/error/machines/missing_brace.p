machine Main {
  start state S { //~ syntax-error @17
    entry {
      print "a";
    }

machine Other { start state S { } }
