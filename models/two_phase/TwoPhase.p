// Two-phase commit: a coordinator, nParticipants participants, nTransactions transactions one after the other. Participants
// vote as they like. The coordinator may lose patience at any moment and abort, so that late votes of an old
// transaction meet the next one. What is checked: no transaction commits in one place and aborts in another, nobody
// commits who voted no, and every transaction is decided.

param nParticipants: int;
param nTransactions: int;

type tVote = (transaction: int, yes: bool);

event ePrepare: int;
event eVote: tVote;
event eCommit: int;
event eAbort: int;
event eAck: int;
event eImpatient;

// What the monitors hear.
event eCommitted: int;
event eAborted: int;

machine Coordinator {
    var participants: seq[machine];
    var transaction: int;
    var nYes: int;
    var nAcks: int;

    start state Begin {
        entry (given: seq[machine]) {
            participants = given;
            goto Voting;
        }
    }

    state Voting {
        entry {
            var i: int;
            nYes = 0;
            while (i < sizeof(participants)) {
                send participants[i], ePrepare, transaction;
                i = i + 1;
            }
            // Time may run out before any vote is read.
            send this, eImpatient;
        }
        on eVote do (vote: tVote) {
            if (vote.transaction != transaction) {
                return;
            }
            if (!vote.yes) {
                decide(false);
                goto Deciding;
            }
            nYes = nYes + 1;
            if (nYes == sizeof(participants)) {
                decide(true);
                goto Deciding;
            }
        }
        on eImpatient do {
            decide(false);
            goto Deciding;
        }
        ignore eAck;
    }

    state Deciding {
        entry {
            nAcks = 0;
        }
        on eAck do (done: int) {
            if (done == transaction) {
                nAcks = nAcks + 1;
            }
            if (nAcks == sizeof(participants)) {
                goto Next;
            }
        }
        ignore eVote, eImpatient;
    }

    state Next {
        entry {
            transaction = transaction + 1;
            if (transaction < nTransactions) {
                goto Voting;
            }
        }
        ignore eVote, eImpatient, eAck;
    }

    fun decide(commit: bool) {
        var i: int;
        while (i < sizeof(participants)) {
            if (commit) {
                send participants[i], eCommit, transaction;
            } else {
                send participants[i], eAbort, transaction;
            }
            i = i + 1;
        }
    }
}

machine Participant {
    var coordinator: machine;
    var votedNo: bool;

    start state Meet {
        on eMeet do (who: machine) {
            coordinator = who;
            goto Ready;
        }
        defer ePrepare, eCommit, eAbort;
    }

    state Ready {
        on ePrepare do (transaction: int) {
            votedNo = $;
            send coordinator, eVote, (transaction = transaction, yes = !votedNo);
        }
        on eCommit do (transaction: int) {
            assert !votedNo, "committed against my vote";
            announce eCommitted, transaction;
            votedNo = false;
            send coordinator, eAck, transaction;
        }
        on eAbort do (transaction: int) {
            announce eAborted, transaction;
            votedNo = false;
            send coordinator, eAck, transaction;
        }
    }
}

event eMeet: machine;

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
            coordinator = new Coordinator(participants);
            i = 0;
            while (i < nParticipants) {
                send participants[i], eMeet, coordinator;
                i = i + 1;
            }
        }
    }
}

spec Atomicity observes eCommitted, eAborted {
    var committed: set[int];
    var aborted: set[int];

    start state Watching {
        on eCommitted do (transaction: int) {
            assert !(transaction in aborted), "committed here, aborted there";
            committed += (transaction);
        }
        on eAborted do (transaction: int) {
            assert !(transaction in committed), "aborted here, committed there";
            aborted += (transaction);
        }
    }
}

module TwoPhase = { Driver, Coordinator, Participant };

test param (nParticipants in [2, 3, 4, 5], nTransactions in [1, 2]) tcAtomic [main=Driver]:
    assert Atomicity in TwoPhase;
