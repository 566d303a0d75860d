// A key-value store with two-phase commit: clients write and read, one transaction after the other, each with a key that is chosen; all
// participants keep everything. Failures: a participant may refuse a write, and a timer may run out before all votes are in, so that votes
// come late. What is checked: a read returns what was written last under its key, or nothing was.

param nClients: int;
param nParticipants: int;
param nWrites: int;
param nReads: int;

type tWrite = (key: int, val: int);

event eWrite: (from: machine, write: tWrite);
event eWritten: bool;
event eRead: (from: machine, key: int);
event eValue: int;
event ePrepare: (serial: int, write: tWrite);
event eVote: (serial: int, yes: bool);
event eDecide: (serial: int, commit: bool);
event eFetch: (coordinator: machine, key: int);
event eFetched: int;
event eStart: (coordinator: machine, serial: int);
event eTimeout: int;
event eMeet: machine;

// What the monitor hears.
event eCommitted: tWrite;
event eHeard: tWrite;

machine Coordinator {
    var participants: seq[machine];
    var timer: machine;
    var client: machine;
    var write: tWrite;
    var serial: int;
    var nYes: int;

    start state Begin {
        entry (given: (participants: seq[machine], timer: machine)) {
            participants = given.participants;
            timer = given.timer;
            goto Ready;
        }
        defer eWrite, eRead;
    }

    state Ready {
        on eWrite do (request: (from: machine, write: tWrite)) {
            client = request.from;
            write = request.write;
            goto Voting;
        }
        on eRead do (request: (from: machine, key: int)) {
            client = request.from;
            send participants[choose(nParticipants)], eFetch, (coordinator = this, key = request.key);
            goto Reading;
        }
        ignore eVote, eTimeout;
    }

    state Voting {
        entry {
            var i: int;
            nYes = 0;
            serial = (serial + 1) % 3;
            while (i < sizeof(participants)) {
                send participants[i], ePrepare, (serial = serial, write = write);
                i = i + 1;
            }
            send timer, eStart, (coordinator = this, serial = serial);
        }
        on eVote do (vote: (serial: int, yes: bool)) {
            if (vote.serial != serial) {
                return;
            }
            if (!vote.yes) {
                decide(false);
                return;
            }
            nYes = nYes + 1;
            if (nYes == sizeof(participants)) {
                decide(true);
            }
        }
        on eTimeout do (of: int) {
            if (of == serial) {
                decide(false);
            }
        }
        defer eWrite, eRead;
    }

    state Reading {
        on eFetched do (val: int) {
            send client, eValue, val;
            goto Ready;
        }
        ignore eVote, eTimeout;
        defer eWrite, eRead;
    }

    fun decide(commit: bool) {
        var i: int;
        if (commit) {
            announce eCommitted, write;
        }
        while (i < sizeof(participants)) {
            send participants[i], eDecide, (serial = serial, commit = commit);
            i = i + 1;
        }
        send client, eWritten, commit;
        goto Ready;
    }
}

machine Timer {
    start state Waiting {
        on eStart do (given: (coordinator: machine, serial: int)) {
            if ($) {
                send given.coordinator, eTimeout, given.serial;
            }
        }
    }
}

machine Participant {
    var coordinator: machine;
    var pending: tWrite;
    var store: map[int, int];

    start state Begin {
        on eMeet do (given: machine) {
            coordinator = given;
            goto Ready;
        }
        defer ePrepare, eDecide, eFetch;
    }

    state Ready {
        on ePrepare do (prepare: (serial: int, write: tWrite)) {
            pending = prepare.write;
            send coordinator, eVote, (serial = prepare.serial, yes = $);
        }
        on eDecide do (decision: (serial: int, commit: bool)) {
            if (decision.commit) {
                store[pending.key] = pending.val;
            }
            pending = default(tWrite);
        }
        on eFetch do (read: (coordinator: machine, key: int)) {
            if (read.key in store) {
                announce eHeard, (key = read.key, val = store[read.key]);
                send read.coordinator, eFetched, store[read.key];
            } else {
                announce eHeard, (key = read.key, val = 0);
                send read.coordinator, eFetched, 0;
            }
        }
    }
}

machine Client {
    var coordinator: machine;
    var number: int;
    var nLeft: int;

    start state Writing {
        entry (given: (coordinator: machine, number: int)) {
            coordinator = given.coordinator;
            number = given.number;
            nLeft = nWrites;
            write();
        }
        on eWritten do {
            write();
        }
    }

    state Reading {
        entry {
            nLeft = nReads;
            read();
        }
        on eValue do {
            read();
        }
    }

    fun write() {
        if (nLeft == 0) {
            goto Reading;
        }
        nLeft = nLeft - 1;
        send coordinator, eWrite, (from = this, write = (key = choose(2), val = number));
    }

    fun read() {
        if (nLeft > 0) {
            nLeft = nLeft - 1;
            send coordinator, eRead, (from = this, key = choose(2));
        }
    }
}

machine Driver {
    start state Begin {
        entry {
            var participants: seq[machine];
            var coordinator: machine;
            var i: int;
            while (i < nParticipants) {
                participants += (i, new Participant());
                i = i + 1;
            }
            coordinator = new Coordinator((participants = participants, timer = new Timer()));
            i = 0;
            while (i < nParticipants) {
                send participants[i], eMeet, coordinator;
                i = i + 1;
            }
            i = 0;
            while (i < nClients) {
                new Client((coordinator = coordinator, number = i + 1));
                i = i + 1;
            }
        }
    }
}

spec ReadsSeeWrites observes eCommitted, eHeard {
    var store: map[int, int];

    start state Watching {
        on eCommitted do (write: tWrite) {
            store[write.key] = write.val;
        }
        on eHeard do (found: tWrite) {
            if (found.key in store) {
                assert found.val == store[found.key], "a read misses the last write";
            } else {
                assert found.val == 0, "a read sees what was not written";
            }
        }
    }
}

test param (nClients in [2], nParticipants in [2], nWrites in [1, 2], nReads in [1, 2]) tcStore [main = Driver]:
    assert ReadsSeeWrites in { Driver, Coordinator, Timer, Participant, Client };
