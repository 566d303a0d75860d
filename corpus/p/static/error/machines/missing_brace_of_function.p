event A;
machine Main {
  start state S {
    entry { //~ syntax-error @11
      if (true) {
        print "a";
      }
    on A do { }
  }
}
