// A lock with leases: the lock server takes a lock back when its lease runs out, and the client who had it may not know. Each
// lease has a number, which grows; a storage with a fence refuses writes under a lease older than the last one it saw. What is
// checked: writes come in the order of leases, and every client has written in the end. Without the fence, a client that was
// slow overwrites what a later one wrote.

param nClients: int;
param nWrites: int;
param nExpiries: int;
param hasFence: bool;

enum Answer { GRANTED, BUSY }
enum Result { WRITTEN, FENCED }

event eAcquire: Client;
event eAcquired: (answer: Answer, lease: int);
event eRelease: int;
event eExpire;
event eRetry;
event eWrite: (client: Client, lease: int);
event eResult: (result: Result, lease: int);

// What the monitors hear.
event eApplied: int;
event eWants: Client;
event eServed: Client;

machine LockServer {
    var lease: int;

    start state Free {
        on eAcquire goto Held with (client: Client) {
            lease = lease + 1;
            send client, eAcquired, (answer = GRANTED, lease = lease);
        }
        ignore eRelease, eExpire;
    }
    state Held {
        on eAcquire do (client: Client) {
            send client, eAcquired, (answer = BUSY, lease = 0);
        }
        on eRelease do (released: int) {
            if (released == lease) {
                goto Free;
            }
        }
        on eExpire goto Free;
    }
}

machine Clock {
    start state Ticking {
        entry (server: LockServer) {
            var n: int;
            while (n < nExpiries) {
                send server, eExpire;
                n = n + 1;
            }
        }
    }
}

machine Storage {
    var newest: int;

    start state Open {
        on eWrite do (write: (client: Client, lease: int)) {
            if (hasFence && write.lease < newest) {
                send write.client, eResult, (result = FENCED, lease = write.lease);
                return;
            }
            newest = write.lease;
            announce eApplied, write.lease;
            send write.client, eResult, (result = WRITTEN, lease = write.lease);
        }
    }
}

machine Client {
    var server: LockServer;
    var storage: Storage;
    var lease: int;
    var nLeft: int;

    start state Begin {
        entry (given: (server: LockServer, storage: Storage)) {
            server = given.server;
            storage = given.storage;
            nLeft = nWrites;
            announce eWants, this;
            goto Asking;
        }
    }
    state Asking {
        entry {
            send server, eAcquire, this;
        }
        on eAcquired do (it: (answer: Answer, lease: int)) {
            if (it.answer == GRANTED) {
                goto Writing, it.lease;
            }
            send this, eRetry;
        }
        on eRetry goto Asking;
    }
    state Writing {
        entry (granted: int) {
            lease = granted;
            send storage, eWrite, (client = this, lease = lease);
        }
        on eResult do (it: (result: Result, lease: int)) {
            assert it.lease == lease, "an answer to another write";
            if (it.result == FENCED) {
                goto Asking;
            }
            nLeft = nLeft - 1;
            if (nLeft == 0) {
                goto Done;
            }
            goto Writing, lease;
        }
    }
    state Done {
        entry {
            announce eServed, this;
            send server, eRelease, lease;
        }
    }
}

machine Main {
    start state S {
        entry {
            var server: LockServer;
            var storage: Storage;
            var n: int;
            server = new LockServer();
            storage = new Storage();
            while (n < nClients) {
                new Client((server = server, storage = storage));
                n = n + 1;
            }
            new Clock(server);
        }
    }
}

spec LeasesInOrder observes eApplied {
    var last: int;

    start state Watch {
        on eApplied do (lease: int) {
            assert lease >= last, format("a write under lease {0} after one under lease {1}", lease, last);
            last = lease;
        }
    }
}

spec EveryoneIsServed observes eWants, eServed {
    var waiting: set[Client];

    start cold state Quiet {
        on eWants goto Busy with (client: Client) {
            waiting += (client);
        }
    }
    hot state Busy {
        on eWants do (client: Client) {
            waiting += (client);
        }
        on eServed do (client: Client) {
            waiting -= (client);
            if (sizeof(waiting) == 0) {
                goto Quiet;
            }
        }
    }
}

module Locks = { Main, LockServer, Clock, Storage, Client };

test param (nClients in [2, 3], nWrites in [2], nExpiries in [0, 2], hasFence in [true]) tcFenced [main=Main]:
    assert LeasesInOrder, EveryoneIsServed in Locks;
test param (nClients in [2], nWrites in [2], nExpiries in [1], hasFence in [false]) tcNoFence [main=Main]:
    assert LeasesInOrder in Locks;
