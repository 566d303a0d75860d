// Single-decree Paxos: nProposers proposers, each with a value of its own and one ballot, and nAcceptors acceptors. Every
// message may come late, since each goes by itself; proposers that are overtaken give up. What is checked: only one
// value is ever chosen.

param nProposers: int;
param nAcceptors: int;

type tPrepare = (ballot: int, from: machine);
type tPromise = (ballot: int, acceptedBallot: int, acceptedValue: int);
type tAccept = (ballot: int, value: int, from: machine);
type tAccepted = (ballot: int, value: int);

event ePrepare: tPrepare;
event ePromise: tPromise;
event eAccept: tAccept;
event eAccepted: int;
event eRefused: int;

// What the monitor hears.
event eVoted: tAccepted;

machine Acceptor {
    var promised: int;
    var acceptedBallot: int;
    var acceptedValue: int;

    start state Listening {
        on ePrepare do (prepare: tPrepare) {
            if (prepare.ballot > promised) {
                promised = prepare.ballot;
                send prepare.from, ePromise,
                    (ballot = prepare.ballot, acceptedBallot = acceptedBallot, acceptedValue = acceptedValue);
            } else {
                send prepare.from, eRefused, prepare.ballot;
            }
        }
        on eAccept do (accept: tAccept) {
            if (accept.ballot >= promised) {
                promised = accept.ballot;
                acceptedBallot = accept.ballot;
                acceptedValue = accept.value;
                announce eVoted, (ballot = accept.ballot, value = accept.value);
                send accept.from, eAccepted, accept.ballot;
            } else {
                send accept.from, eRefused, accept.ballot;
            }
        }
    }
}

machine Proposer {
    var acceptors: seq[machine];
    var ballot: int;
    var value: int;
    var highest: int;
    var n: int;

    start state Begin {
        entry (given: (acceptors: seq[machine], ballot: int)) {
            acceptors = given.acceptors;
            ballot = given.ballot;
            value = given.ballot;
            goto Preparing;
        }
    }

    state Preparing {
        entry {
            var i: int;
            while (i < sizeof(acceptors)) {
                send acceptors[i], ePrepare, (ballot = ballot, from = this);
                i = i + 1;
            }
        }
        on ePromise do (promise: tPromise) {
            if (promise.acceptedBallot > highest) {
                highest = promise.acceptedBallot;
                value = promise.acceptedValue;
            }
            n = n + 1;
            if (2 * n > sizeof(acceptors)) {
                goto Proposing;
            }
        }
        on eRefused goto Done;
    }

    state Proposing {
        entry {
            var i: int;
            n = 0;
            highest = 0;
            while (i < sizeof(acceptors)) {
                send acceptors[i], eAccept, (ballot = ballot, value = value, from = this);
                i = i + 1;
            }
        }
        on eAccepted do {
            n = n + 1;
            if (2 * n > sizeof(acceptors)) {
                goto Done;
            }
        }
        on eRefused goto Done;
        ignore ePromise;
    }

    state Done {
        entry {
            n = 0;
        }
        ignore ePromise, eAccepted, eRefused;
    }
}

machine Driver {
    start state Begin {
        entry {
            var acceptors: seq[machine];
            var i: int;
            while (i < nAcceptors) {
                acceptors += (i, new Acceptor());
                i = i + 1;
            }
            i = 0;
            while (i < nProposers) {
                new Proposer((acceptors = acceptors, ballot = i + 1));
                i = i + 1;
            }
        }
    }
}

spec Agreement observes eVoted {
    // By ballot: the votes for it, and its value.
    var votes: map[int, int];
    var chosen: int;

    start state Watching {
        on eVoted do (vote: tAccepted) {
            if (!(vote.ballot in votes)) {
                votes[vote.ballot] = 0;
            }
            votes[vote.ballot] = votes[vote.ballot] + 1;
            if (2 * votes[vote.ballot] > nAcceptors) {
                assert chosen == 0 || chosen == vote.value, "two values were chosen";
                chosen = vote.value;
            }
        }
    }
}

test param (nProposers in [1, 2, 3], nAcceptors in [2, 3]) tcAgreement [main=Driver]:
    assert Agreement in { Driver, Proposer, Acceptor };
