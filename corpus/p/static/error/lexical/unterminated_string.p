machine Main {
  start state S {
    entry {
      print "never closed; //~ unterminated-string @13
    }
  }
}
