// expect: holds
event eAsk: machine; event eTell: int;
machine Main {
  start state S {
    entry {
      var s: machine; var sum: int; var i: int;
      s = new Server();
      while (i < 3) {
        send s, eAsk, this;
        receive { case eTell: (x: int) { sum = sum + x; } }
        i = i + 1;
      }
      assert sum == 6;
    }
  }
}
machine Server {
  var n: int;
  start state S { on eAsk do (who: machine) { n = n + 1; send who, eTell, n; } }
}
