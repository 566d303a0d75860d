// Sends, creations, choices, transitions, `receive`, raises, announcements.
event eAsk: machine;
event eGrant: int;
event eLog: int;
event eStop;

spec Log observes eLog, eGrant {
  start hot state Waits {
    on eGrant goto Granted;
    ignore eLog;
  }
  cold state Granted {
    ignore eGrant, eLog;
  }
}

machine Main {
  var server: machine;

  start state Run {
    entry {
      server = new Server(choose(3));
      send server, eAsk, this;
      receive {
        case eGrant: (n: int) {
          if ($) {
            announce eLog, n;
          }
        }
      }
      raise eStop;
    }
    exit {
      print "done";
    }
    on eStop goto Over;
  }

  state Over {
    entry {
      raise halt;
    }
  }
}

machine Server {
  var n: int;

  start state Serve {
    entry (first: int) {
      n = first;
    }
    on eAsk do (client: machine) {
      send client, eGrant, n;
      goto Rest;
    }
  }

  state Rest {
    defer eAsk;
  }
}

test Machines [main = Main]: assert Log in { Main, Server };
