machine Main {
  var n: int;
  start state S {
    entry {
      n = 1 //~ syntax-error @12
      n = 2;
      print "a" //~ syntax-error @16
    }
  }
}
