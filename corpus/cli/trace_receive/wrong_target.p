// The answer goes to the server itself.
event eAsk: machine;
event eReply: int;

machine Server {
  start state Serve {
    on eAsk do (client: machine) { send this, eReply, 1; }
    ignore eReply;
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
