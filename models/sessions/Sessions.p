// A front end that makes one session for each request. A session asks the store, guards its question by a timer, and asks once more when the
// timer expires. When it has answered its client it cancels the timer and halts; the timer halts when it is cancelled.
//
// Clients never stop asking, so sessions and timers are made for ever; only those of open requests matter.

type tRequest = (client: machine, key: int);

event eRequest: tRequest;
event eAnswer: (key: int, value: int);
event eRead: (session: machine, key: int);
event eValue: (key: int, value: int);
event eExpired;
event eCancel;
event eTick;

// Every client gets an answer to what it asked, and only to that.
spec AnswersFit observes eRequest, eAnswer {
  var open: map[int, int];
  start state Watching {
    on eRequest do (request: tRequest) {
      if (!(request.key in open)) { open[request.key] = 0; }
      open[request.key] = open[request.key] + 1;
    }
    on eAnswer do (answer: (key: int, value: int)) {
      assert answer.key in open && open[answer.key] > 0, "an answer that nobody asked for";
      open[answer.key] = open[answer.key] - 1;
    }
  }
}

// As long as some request is open, an answer comes again and again.
spec SomeAnswer observes eRequest, eAnswer {
  var n: int;
  start cold state Idle {
    on eRequest goto Waiting with { n = n + 1; }
  }
  hot state Waiting {
    on eRequest do { n = n + 1; }
    on eAnswer do {
      n = n - 1;
      if (n == 0) { goto Idle; }
      goto Served;
    }
  }
  cold state Served {
    entry { goto Waiting; }
  }
}

machine FrontEnd {
  var store: machine;
  var hasRetries: bool;
  start state Serving {
    entry (setup: (store: machine, hasRetries: bool)) {
      store = setup.store;
      hasRetries = setup.hasRetries;
    }
    on eRequest do (request: tRequest) {
      new Session((request = request, store = store, hasRetries = hasRetries));
    }
  }
}

machine Session {
  var request: tRequest;
  var store: machine;
  var timer: machine;
  start state Asking {
    entry (setup: (request: tRequest, store: machine, hasRetries: bool)) {
      request = setup.request;
      store = setup.store;
      if (setup.hasRetries) { timer = new Timer(this); }
      send store, eRead, (session = this, key = request.key);
    }
    on eExpired do {
      timer = default(machine);
      send store, eRead, (session = this, key = request.key);
    }
    on eValue do (found: (key: int, value: int)) {
      assert found.key == request.key, "the value of another key";
      send request.client, eAnswer, found;
      if (timer != null) { send timer, eCancel; }
      raise halt;
    }
  }
}

machine Timer {
  var owner: machine;
  start state Running {
    entry (o: machine) {
      owner = o;
      send this, eTick;
    }
    on eTick do {
      if ($) {
        send owner, eExpired;
        raise halt;
      }
      send this, eTick;
    }
    on eCancel do { raise halt; }
  }
}

machine Store {
  var content: map[int, int];
  start state Serving {
    on eRead do (read: (session: machine, key: int)) {
      if (!(read.key in content)) { content[read.key] = read.key + 10; }
      send read.session, eValue, (key = read.key, value = content[read.key]);
    }
  }
}

machine Client {
  var server: machine;
  var key: int;
  start state Asking {
    entry (setup: (server: machine, key: int)) {
      server = setup.server;
      key = setup.key;
      send server, eRequest, (client = this as machine, key = key);
    }
    on eAnswer do (answer: (key: int, value: int)) {
      assert answer.value == key + 10, "the answer to another request";
      send server, eRequest, (client = this as machine, key = key);
    }
  }
}

fun Setup(nClients: int, hasRetries: bool) {
  var server: machine;
  var i: int;
  server = new FrontEnd((store = new Store(), hasRetries = hasRetries));
  while (i < nClients) {
    new Client((server = server, key = i));
    i = i + 1;
  }
}

machine Plain { start state Init { entry { Setup(4, false); } } }
machine Retrying { start state Init { entry { Setup(3, true); } } }

module Service = { FrontEnd, Session, Timer, Store, Client };
test tcPlain [main = Plain]: assert AnswersFit, SomeAnswer in (union { Plain }, Service);
test tcRetrying [main = Retrying]: assert AnswersFit in (union { Retrying }, Service);
