machine First {
  var n: int;
  start state S {
    entry { n = 1; }
    }
    n = 2; //~ syntax-error @5
    print "b";
    if (n == 1) { n = 3; }
  }
  state T { }
}
machine Second {
  start state S {
    print "a"; //~ syntax-error @5
    print "b";
    entry { }
  }
}
