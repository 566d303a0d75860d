// expect: violated assertion the null handler was decided before the message came, and seen after it
// Between the look into the inbox and the null handler there is a scheduling point: a message may arrive, and its
// sender may announce, before the null handler observes anything. The message is handled after it, in T.
event eGo;
event eSeen: int;
machine Main {
  var server: machine;
  start state S {
    entry {
      server = new Server();
      send server, eGo;
      announce eSeen, 1;
    }
  }
}
machine Server {
  start state S {
    on null do {
      announce eSeen, 2;
      goto T;
    }
    on eGo goto Done;
  }
  state T {
    on eGo do {
      announce eSeen, 3;
    }
  }
  state Done {
  }
}
spec Order observes eSeen {
  var first: int;
  start state S {
    on eSeen do (n: int) {
      if (first == 0) {
        first = n;
      }
      assert !(first == 1 && n == 3), "the null handler was decided before the message came, and seen after it";
    }
  }
}
