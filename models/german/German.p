// German's cache coherence protocol: a directory that hands out one cache line to nClients clients, shared or
// exclusive, and takes it back before it hands it out again. A processor asks for nRequests accesses in all, each at any
// client. What is checked: who holds the line exclusively is alone with it.

param nClients: int;
param nRequests: int;

event eRead;
event eWrite;
event eWantShared: machine;
event eWantExclusive: machine;
event eGrantShared;
event eGrantExclusive;
event eInvalidate;
event eInvalidated;

// What the monitor hears.
type tHold = (client: machine, exclusive: bool);
event eHolds: tHold;
event eDrops: machine;

machine Directory {
    var holders: seq[machine];
    var isExclusive: bool;
    var client: machine;
    var wantsExclusive: bool;
    var nMissing: int;

    start state Serving {
        on eWantShared do (who: machine) {
            client = who;
            wantsExclusive = false;
            if (isExclusive) {
                goto Recalling;
            }
            grant();
        }
        on eWantExclusive do (who: machine) {
            client = who;
            wantsExclusive = true;
            if (sizeof(holders) > 0) {
                goto Recalling;
            }
            grant();
        }
    }

    state Recalling {
        entry {
            var i: int;
            nMissing = sizeof(holders);
            while (i < sizeof(holders)) {
                send holders[i], eInvalidate;
                i = i + 1;
            }
        }
        on eInvalidated do {
            nMissing = nMissing - 1;
            if (nMissing == 0) {
                holders = default(seq[machine]);
                isExclusive = false;
                grant();
                goto Serving;
            }
        }
        defer eWantShared, eWantExclusive;
    }

    fun grant() {
        if (wantsExclusive) {
            isExclusive = true;
            send client, eGrantExclusive;
        } else {
            send client, eGrantShared;
        }
        holders += (sizeof(holders), client);
        client = null as machine;
        wantsExclusive = false;
    }
}

machine Client {
    var directory: machine;

    start state Invalid {
        entry (given: machine) {
            if (directory == null) {
                directory = given;
            }
        }
        on eRead do {
            send directory, eWantShared, this;
            goto Asking;
        }
        on eWrite do {
            send directory, eWantExclusive, this;
            goto Asking;
        }
    }

    // Asked, and holds nothing.
    state Asking {
        on eGrantShared do {
            announce eHolds, (client = this, exclusive = false);
            goto Sharing;
        }
        on eGrantExclusive do {
            announce eHolds, (client = this, exclusive = true);
            goto Owning;
        }
        defer eRead, eWrite;
    }

    state Sharing {
        on eWrite do {
            send directory, eWantExclusive, this;
            goto Upgrading;
        }
        on eInvalidate do {
            drop();
            goto Invalid, directory;
        }
        ignore eRead;
    }

    // Asked for more while sharing: the directory will take back what there is first.
    state Upgrading {
        on eInvalidate do {
            drop();
            goto Asking;
        }
        on eGrantExclusive do {
            announce eHolds, (client = this, exclusive = true);
            goto Owning;
        }
        defer eRead, eWrite;
    }

    state Owning {
        on eInvalidate do {
            drop();
            goto Invalid, directory;
        }
        ignore eRead, eWrite;
    }

    fun drop() {
        announce eDrops, this;
        send directory, eInvalidated;
    }
}

machine Processor {
    start state Begin {
        entry {
            var directory: machine;
            var clients: seq[machine];
            var client: machine;
            var i: int;
            directory = new Directory();
            while (i < nClients) {
                clients += (i, new Client(directory));
                i = i + 1;
            }
            i = 0;
            while (i < nRequests) {
                client = choose(clients);
                if ($) {
                    send client, eRead;
                } else {
                    send client, eWrite;
                }
                i = i + 1;
            }
        }
    }
}

spec OneOwner observes eHolds, eDrops {
    var sharers: set[machine];
    var owner: machine;

    start state Watching {
        on eHolds do (hold: tHold) {
            assert owner == null, "somebody else owns the line";
            if (hold.exclusive) {
                assert sizeof(sharers) == 0, "somebody else shares the line";
                owner = hold.client;
            } else {
                sharers += (hold.client);
            }
        }
        on eDrops do (client: machine) {
            if (owner == client) {
                owner = null as machine;
            }
            sharers -= (client);
        }
    }
}

module German = { Processor, Directory, Client };

test param (nClients in [2, 3, 4], nRequests in [2, 3, 4, 5, 6]) tcCoherent [main=Processor]:
    assert OneOwner in German;
