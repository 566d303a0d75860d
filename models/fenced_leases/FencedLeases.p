// A lock with leases, and clients that take it again and again. The server may take a lease back whenever another client asks, and the client that had it
// does not know. Leases have numbers that grow for ever; a storage with a fence refuses writes under a lease older than the last one that it
// has seen. A monitor records every lease that was written under.

event eAcquire: Client;
event eGranted: int;
event eBusy;
event eRelease: int;
event eWrite: (client: Client, lease: int);
event eResult: (lease: int, isWritten: bool);
event eApplied: int;

// Writes come in the order of leases, one for each lease.
spec InOrder observes eApplied {
  var newest: int;
  var applied: set[int];
  start state Watching {
    on eApplied do (lease: int) {
      assert !(lease in applied), "two writes under one lease";
      assert newest < lease, "a write under a lease that was taken back";
      applied += (lease);
      newest = lease;
    }
  }
}

machine LockServer {
  var lease: int;
  start state Free {
    on eAcquire goto Held with (client: Client) { Grant(client); }
    ignore eRelease;
  }
  state Held {
    on eAcquire do (client: Client) {
      if ($) { Grant(client); } else { send client, eBusy; }
    }
    on eRelease do (released: int) {
      if (released == lease) { goto Free; }
    }
  }
  fun Grant(client: Client) {
    lease = lease + 1;
    send client, eGranted, lease;
  }
}

machine Storage {
  var newest: int;
  var hasFence: bool;
  start state Open {
    entry (fence: bool) { hasFence = fence; }
    on eWrite do (write: (client: Client, lease: int)) {
      if (hasFence && write.lease < newest) {
        send write.client, eResult, (lease = write.lease, isWritten = false);
        return;
      }
      newest = write.lease;
      announce eApplied, write.lease;
      send write.client, eResult, (lease = write.lease, isWritten = true);
    }
  }
}

machine Client {
  var server: LockServer;
  var storage: Storage;
  start state Asking {
    entry (services: (server: LockServer, storage: Storage)) {
      server = services.server;
      storage = services.storage;
      send server, eAcquire, this;
    }
    on eBusy do { send server, eAcquire, this; }
    on eGranted do (lease: int) { send storage, eWrite, (client = this, lease = lease); }
    on eResult do (result: (lease: int, isWritten: bool)) {
      send server, eRelease, result.lease;
      send server, eAcquire, this;
    }
  }
}

fun Setup(n: int, hasFence: bool) {
  var server: LockServer;
  var storage: Storage;
  var i: int;
  server = new LockServer();
  storage = new Storage(hasFence);
  while (i < n) {
    new Client((server = server, storage = storage));
    i = i + 1;
  }
}

machine Two { start state Begin { entry { Setup(2, true); } } }
machine Three { start state Begin { entry { Setup(3, true); } } }
machine Unfenced { start state Begin { entry { Setup(2, false); } } }

test tcTwo [main = Two]: assert InOrder in { Two, LockServer, Storage, Client };
test tcThree [main = Three]: assert InOrder in { Three, LockServer, Storage, Client };
test tcUnfenced [main = Unfenced]: assert InOrder in { Unfenced, LockServer, Storage, Client };
