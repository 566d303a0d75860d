// A reader learns: the second grant is sent while the first client still holds the lock, and which two sends these are.
event eAcquire: Client;
event eGrant: Client;
event eRelease: Client;

spec OneHolder observes eGrant, eRelease {
  var holder: Client;
  start state Watch {
    on eGrant do (client: Client) {
      assert holder == default(Client), format("{0} gets the lock, and {1} holds it", client, holder);
      holder = client;
    }
    on eRelease do { holder = default(Client); }
  }
}

machine Lock {
  start state Serve {
    on eAcquire do (client: Client) { send client, eGrant, client; }
    ignore eRelease;
  }
}

machine Client {
  var lock: Lock;
  start state Begin {
    entry (given: Lock) {
      lock = given;
      send lock, eAcquire, this;
    }
    on eGrant do { send lock, eRelease, this; }
  }
}

machine Main {
  start state Begin {
    entry {
      var lock: Lock;
      lock = new Lock();
      new Client(lock);
      new Client(lock);
    }
  }
}

test tcLock [main = Main]: assert OneHolder in { Main, Lock, Client };
