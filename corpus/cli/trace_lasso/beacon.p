// A reader learns: request and refusal alternate for ever, the loop has two steps, and the monitor is hot throughout.
event eRequest: Client;
event eRefusal;
event eGrant;

spec Served observes eRequest, eGrant {
  start cold state Content {
    on eRequest goto Waiting;
    ignore eGrant;
  }
  hot state Waiting {
    on eGrant goto Content;
    ignore eRequest;
  }
}

machine Server {
  var isOpen: bool;
  start state Serve {
    on eRequest do (client: Client) {
      if (isOpen) { send client, eGrant; } else { send client, eRefusal; }
    }
  }
}

machine Client {
  var server: Server;
  start state Asking {
    entry (given: Server) {
      server = given;
      send server, eRequest, this;
    }
    on eRefusal do { send server, eRequest, this; }
    on eGrant do { raise halt; }
  }
}

machine Main {
  start state Begin {
    entry { new Client(new Server()); }
  }
}

test tcServed [main = Main]: assert Served in { Main, Server, Client };
