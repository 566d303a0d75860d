// The answer is there, under another name than the one that is awaited.
event eAsk: machine;
event eAnswer: int;
event eReply: int;

machine Server {
  start state Serve {
    on eAsk do (client: machine) {
      if (client == this) { send client, eReply, 0; }
      send client, eAnswer, 1;
    }
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
