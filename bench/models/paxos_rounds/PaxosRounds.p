// Single-decree Paxos in rounds, with quorums of two sizes (flexible Paxos): a proposer that is refused tries again with a higher ballot, until all nRounds
// ballots are used; proposer i of n has the ballots i, i + n, i + 2n, and so on, and a value of its own. Promises of `quorum1` acceptors
// and votes of `quorum2` are enough, which is safe as long as both together are more than all acceptors. What is checked: only one value
// is ever chosen.

param nProposers: int;
param nAcceptors: int;
param nRounds: int;
param quorum1: int;
param quorum2: int;

type tPrepare = (ballot: int, from: machine);
type tPromise = (ballot: int, acceptedBallot: int, acceptedValue: int);
type tAccept = (ballot: int, value: int, from: machine);
type tVote = (ballot: int, value: int);

event ePrepare: tPrepare;
event ePromise: tPromise;
event eAccept: tAccept;
event eAccepted: int;
event eRefused: int;

// What the monitor hears.
event eVoted: tVote;

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
    var own: int;
    var value: int;
    var highest: int;
    var n: int;

    start state Begin {
        entry (given: (acceptors: seq[machine], number: int)) {
            acceptors = given.acceptors;
            own = given.number;
            ballot = given.number;
            goto Preparing;
        }
    }

    state Preparing {
        entry {
            var i: int;
            n = 0;
            highest = 0;
            value = own;
            while (i < sizeof(acceptors)) {
                send acceptors[i], ePrepare, (ballot = ballot, from = this);
                i = i + 1;
            }
        }
        on ePromise do (promise: tPromise) {
            if (promise.ballot != ballot) {
                return;
            }
            if (promise.acceptedBallot > highest) {
                highest = promise.acceptedBallot;
                value = promise.acceptedValue;
            }
            n = n + 1;
            if (n == quorum1) {
                goto Proposing;
            }
        }
        on eRefused do retry;
        ignore eAccepted;
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
        on eAccepted do (of: int) {
            if (of != ballot) {
                return;
            }
            n = n + 1;
            if (n == quorum2) {
                goto Done;
            }
        }
        on eRefused do retry;
        ignore ePromise;
    }

    state Done {
        entry {
            n = 0;
        }
        ignore ePromise, eAccepted, eRefused;
    }

    fun retry(of: int) {
        if (of != ballot) {
            return;
        }
        ballot = ballot + nProposers;
        if (ballot > nRounds) {
            goto Done;
        }
        goto Preparing;
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
                new Proposer((acceptors = acceptors, number = i + 1));
                i = i + 1;
            }
        }
    }
}

spec Agreement observes eVoted {
    var votes: map[int, int];
    var chosen: int;

    start state Watching {
        on eVoted do (vote: tVote) {
            if (!(vote.ballot in votes)) {
                votes[vote.ballot] = 0;
            }
            votes[vote.ballot] = votes[vote.ballot] + 1;
            if (votes[vote.ballot] >= quorum2) {
                assert chosen == 0 || chosen == vote.value, "two values were chosen";
                chosen = vote.value;
            }
        }
    }
}

test param (nProposers in [2], nAcceptors in [3], nRounds in [2, 3, 4], quorum1 in [2], quorum2 in [2]) tcRounds
    [main = Driver]: assert Agreement in { Driver, Proposer, Acceptor };
test param (nProposers in [2], nAcceptors in [3], nRounds in [4], quorum1 in [3], quorum2 in [1]) tcFlexible
    [main = Driver]: assert Agreement in { Driver, Proposer, Acceptor };
test param (nProposers in [2], nAcceptors in [3], nRounds in [3], quorum1 in [1], quorum2 in [2]) tcTooFew
    [main = Driver]: assert Agreement in { Driver, Proposer, Acceptor };
