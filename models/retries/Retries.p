// Clients that number their requests and never stop. A client sends a request again when its timer expires, so the server may see a request twice;
// it remembers which ones it has done. Monitors record all requests by number: only the last ones matter, and the records grow for ever.

type tRequest = (client: Client, id: int, amount: int);
type tResponse = (id: int, total: int);

event eRequest: tRequest;
event eDone: tRequest;
event eResponse: tResponse;
event eExpired: int;

// No request is done twice, and none that nobody made.
spec DoneOnce observes eRequest, eDone {
  var asked: map[int, int];
  var finished: set[int];
  start state Watching {
    on eRequest do (request: tRequest) { asked[request.id] = request.amount; }
    on eDone do (request: tRequest) {
      assert request.id in asked, "a request that nobody made";
      assert asked[request.id] == request.amount, "another amount";
      assert !(request.id in finished), "done twice";
      finished += (request.id);
    }
  }
}

// Requests are answered again and again.
spec Answers observes eRequest, eResponse {
  start cold state Quiet {
    on eRequest goto Waiting;
    ignore eResponse;
  }
  hot state Waiting {
    on eResponse goto Quiet;
    ignore eRequest;
  }
}

machine Server {
  // By account, the last request that was done; numbers of an account only grow.
  var done: map[Client, int];
  var forgets: bool;
  start state Serving {
    entry (f: bool) { forgets = f; }
    on eRequest do (request: tRequest) {
      if (!(request.client in done) || done[request.client] < request.id) {
        if (!forgets) { done[request.client] = request.id; }
        announce eDone, request;
      }
      send request.client, eResponse, (id = request.id, total = request.amount);
    }
  }
}

machine Client {
  var server: Server;
  var next: int;
  start state Starting {
    entry (setup: (server: Server, first: int)) {
      server = setup.server;
      next = setup.first * 2 + 1;
      goto Asking;
    }
  }
  state Asking {
    entry {
      Ask();
    }
    on eResponse do (response: tResponse) {
      // An answer to what was sent twice comes twice.
      if (response.id == next) {
        next = next + 2;
        goto Asking;
      }
    }
    on eExpired do (id: int) {
      if (id == next) { send server, eRequest, (client = this, id = next, amount = 7); }
    }
  }
  fun Ask() {
    send server, eRequest, (client = this, id = next, amount = 7);
    // The timer of this request.
    if ($) { send this, eExpired, next; }
  }
}

machine One {
  start state Setup {
    entry { new Client((server = new Server(false), first = 0)); }
  }
}

machine Forgetful {
  start state Setup {
    entry { new Client((server = new Server(true), first = 0)); }
  }
}

test tcRetries [main = One]: assert DoneOnce, Answers in { One, Server, Client };
test tcForgetful [main = Forgetful]: assert DoneOnce in { Forgetful, Server, Client };
