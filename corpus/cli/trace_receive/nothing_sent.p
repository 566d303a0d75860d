// The server forgets to answer.
event eAsk: machine;
event eReply: int;

machine Server {
  var nAsked: int;

  start state Serve {
    on eAsk do (client: machine) { nAsked = nAsked + 1; }
  }
}

machine Main {
  start state Ask {
    entry {
      send new Server(), eAsk, this;
      receive { case eReply: (n: int) { } }
    }
  }
}
