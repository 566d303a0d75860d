// A replicated store by two-phase commit, with any number of keys and values: a write is prepared at all nParticipants participants, and takes effect at
// all of them or at none, as they vote. A client writes one value under one key until that succeeds, then any number of values
// under other keys, then reads the first key: it must get the value it wrote. The runs have no end, and the data no bound; `allways.toml`
// says which foreign functions return which keys and values.

param nParticipants: int;

type tKey;
type tVal;

fun TheKey(): tKey;
fun OtherKey(k: tKey): tKey;
fun TheVal(): tVal;
fun AnyVal(): tVal;

type tWrite = (key: tKey, val: tVal);

event eWrite: (from: machine, write: tWrite);
event eWritten: bool;
event eRead: (from: machine, key: tKey);
event eValue: tVal;
event ePrepare: (coordinator: machine, write: tWrite);
event eVote: bool;
event eDecide: bool;
event eDone;
event eFetch: (coordinator: machine, key: tKey);
event eFetched: tVal;

machine Coordinator {
    var participants: seq[machine];
    var client: machine;
    var n: int;
    var commits: bool;

    start state Init {
        entry {
            var i: int;
            while (i < nParticipants) {
                participants += (i, new Participant());
                i = i + 1;
            }
            goto Ready;
        }
        defer eWrite, eRead;
    }

    state Ready {
        on eWrite do (request: (from: machine, write: tWrite)) {
            var i: int;
            client = request.from;
            while (i < nParticipants) {
                send participants[i], ePrepare, (coordinator = this, write = request.write);
                i = i + 1;
            }
            n = 0;
            commits = true;
            goto Voting;
        }
        on eRead do (request: (from: machine, key: tKey)) {
            client = request.from;
            send participants[choose(nParticipants)], eFetch, (coordinator = this, key = request.key);
            goto Reading;
        }
    }

    state Voting {
        on eVote do (yes: bool) {
            var i: int;
            n = n + 1;
            commits = commits && yes;
            if (n == nParticipants) {
                while (i < nParticipants) {
                    send participants[i], eDecide, commits;
                    i = i + 1;
                }
                n = 0;
                goto Deciding;
            }
        }
        defer eWrite, eRead;
    }

    state Deciding {
        on eDone do {
            n = n + 1;
            if (n == nParticipants) {
                n = 0;
                send client, eWritten, commits;
                goto Ready;
            }
        }
        defer eWrite, eRead;
    }

    state Reading {
        on eFetched do (val: tVal) {
            send client, eValue, val;
            goto Ready;
        }
        defer eWrite, eRead;
    }
}

machine Participant {
    var coordinator: machine;
    var pending: tWrite;
    var store: map[tKey, tVal];

    start state Serve {
        on ePrepare do (prepare: (coordinator: machine, write: tWrite)) {
            coordinator = prepare.coordinator;
            pending = prepare.write;
            send coordinator, eVote, $;
        }
        on eDecide do (commit: bool) {
            if (commit) {
                store[pending.key] = pending.val;
            }
            send coordinator, eDone;
        }
        on eFetch do (read: (coordinator: machine, key: tKey)) {
            send read.coordinator, eFetched, store[read.key];
        }
    }
}

machine Client {
    var store: machine;
    var k: tKey;
    var v: tVal;

    start state Init {
        entry {
            store = new Coordinator();
            k = TheKey();
            v = TheVal();
            goto WriteFirst;
        }
    }

    state WriteFirst {
        entry {
            send store, eWrite, (from = this, write = (key = k, val = v));
        }
        on eWritten do (done: bool) {
            if (done) {
                goto WriteOthers;
            }
            goto WriteFirst;
        }
    }

    state WriteOthers {
        entry {
            if ($) {
                send store, eWrite, (from = this, write = (key = OtherKey(k), val = AnyVal()));
            } else {
                goto Check;
            }
        }
        on eWritten goto WriteOthers with (done: bool) { }
    }

    state Check {
        entry {
            send store, eRead, (from = this, key = k);
        }
        on eValue do (val: tVal) {
            assert val == v, "the store lost a value";
        }
    }
}

// Takes a write that was aborted for done.
machine HastyClient {
    var store: machine;
    var k: tKey;
    var v: tVal;

    start state Init {
        entry {
            store = new Coordinator();
            k = TheKey();
            v = TheVal();
            send store, eWrite, (from = this, write = (key = k, val = AnyVal()));
        }
        on eWritten do (done: bool) {
            if (done) {
                goto Again;
            }
        }
    }

    state Again {
        entry {
            send store, eWrite, (from = this, write = (key = k, val = v));
        }
        on eWritten goto Check with (done: bool) { }
    }

    state Check {
        entry {
            send store, eRead, (from = this, key = k);
        }
        on eValue do (val: tVal) {
            assert val == v, "the store lost a value";
        }
    }
}

test param (nParticipants in [2, 4, 6]) tcStore [main = Client]: { Client, Coordinator, Participant };
test param (nParticipants in [2]) tcHasty [main = HastyClient]: { HastyClient, Coordinator, Participant };
