// A reader learns: the reply is lost by the network, and the client waits in `receive` for ever.
event eAsk: Client;
event eReply: int;

machine Server {
  start state Serve {
    on eAsk do (client: Client) { send client, eReply, 42; }
  }
}

machine Client {
  start state Begin {
    entry (server: Server) {
      send server, eAsk, this;
      receive { case eReply: (n: int) { print format("got {0}", n); } }
    }
  }
}

machine Main {
  start state Begin {
    entry { new Client(new Server()); }
  }
}
