// A client that waits for its reply for ever, and a server that counts on one request.
event eRequest: machine; event eReply;

machine Main {
  start state Run {
    entry {
      var server: machine;
      server = new Server();
      send server, eRequest, this;
      receive { case eReply: {} }
    }
    ignore eReply;
  }
}

machine Server {
  var n: int;
  start state Run {
    on eRequest do (client: machine) {
      n = n + 1;
      assert n == 1, "the request came twice";
      send client, eReply;
    }
  }
}
