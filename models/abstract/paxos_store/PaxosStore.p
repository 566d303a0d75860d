// A replicated store by Paxos, with any number of keys and values: each write is a decree of its own. A proposer asks nAcceptors
// acceptors to prepare and then to accept; majorities are enough, and a second proposer, which the client may wake, can overtake the first and then completes what
// it finds accepted. Learners are the acceptors: they apply what is chosen before the next decree begins, and the ballots begin anew, so that runs
// without end have finitely many ballots. A client writes one value under one key, then any number of values under other keys, then reads the first key at any
// acceptor: it must get the value it wrote.

param nAcceptors: int;
// Whether a proposer takes over what it finds accepted.
param takesOver: bool;

type tKey;
type tVal;

fun TheKey(): tKey;
fun OtherKey(k: tKey): tKey;
fun TheVal(): tVal;
fun AnyVal(): tVal;

type tWrite = (key: tKey, val: tVal);

event eWrite: (from: machine, write: tWrite);
event eWritten;
event eRead: (from: machine, key: tKey);
event eValue: tVal;
event ePropose: (from: machine, hasWrite: bool, write: tWrite);
event eEnd: (isChosen: bool, write: tWrite);
event ePrepare: (from: machine, ballot: int);
event ePromise: (hasAccepted: bool, write: tWrite);
event eAccept: (from: machine, ballot: int, write: tWrite);
event eAccepted;
event eRefused;
event eLearn: (from: machine, write: tWrite);
event eLearned;
event eFetch: (from: machine, key: tKey);
event eFetched: tVal;

machine Acceptor {
    var promised: int;
    var hasAccepted: bool;
    var accepted: tWrite;
    var store: map[tKey, tVal];

    start state Serve {
        on ePrepare do (prepare: (from: machine, ballot: int)) {
            if (prepare.ballot > promised) {
                promised = prepare.ballot;
                send prepare.from, ePromise, (hasAccepted = hasAccepted, write = accepted);
            } else {
                send prepare.from, eRefused;
            }
        }
        on eAccept do (accept: (from: machine, ballot: int, write: tWrite)) {
            if (accept.ballot >= promised) {
                promised = accept.ballot;
                hasAccepted = true;
                accepted = accept.write;
                send accept.from, eAccepted;
            } else {
                send accept.from, eRefused;
            }
        }
        // The decree is closed.
        on eLearn do (learn: (from: machine, write: tWrite)) {
            store[learn.write.key] = learn.write.val;
            promised = 0;
            hasAccepted = false;
            accepted = default(tWrite);
            send learn.from, eLearned;
        }
        on eFetch do (read: (from: machine, key: tKey)) {
            send read.from, eFetched, store[read.key];
        }
    }
}

// Proposes in one ballot, and ends when all its messages are answered.
machine Proposer {
    var acceptors: seq[machine];
    var ballot: int;
    var leader: machine;
    var hasWrite: bool;
    var write: tWrite;
    var nOpen: int;
    var nGood: int;
    var isChosen: bool;

    start state Begin {
        entry (given: (acceptors: seq[machine], ballot: int)) {
            acceptors = given.acceptors;
            ballot = given.ballot;
            goto Idle;
        }
        defer ePropose;
    }

    state Idle {
        on ePropose do (given: (from: machine, hasWrite: bool, write: tWrite)) {
            var i: int;
            leader = given.from;
            hasWrite = given.hasWrite;
            write = given.write;
            isChosen = false;
            while (i < nAcceptors) {
                send acceptors[i], ePrepare, (from = this, ballot = ballot);
                i = i + 1;
            }
            nOpen = nAcceptors;
            nGood = 0;
            goto Preparing;
        }
    }

    state Preparing {
        on ePromise do (promise: (hasAccepted: bool, write: tWrite)) {
            // There is one lower ballot only, so what was accepted was accepted in that.
            if (promise.hasAccepted && takesOver) {
                hasWrite = true;
                write = promise.write;
            }
            nGood = nGood + 1;
            answered();
        }
        on eRefused do answered;
    }

    state Accepting {
        on eAccepted do {
            nGood = nGood + 1;
            if (2 * nGood > nAcceptors) {
                isChosen = true;
            }
            answered();
        }
        on eRefused do answered;
    }

    fun answered() {
        var i: int;
        nOpen = nOpen - 1;
        if (nOpen > 0) {
            return;
        }
        if (2 * nGood > nAcceptors && hasWrite && !isChosen) {
            while (i < nAcceptors) {
                send acceptors[i], eAccept, (from = this, ballot = ballot, write = write);
                i = i + 1;
            }
            nOpen = nAcceptors;
            nGood = 0;
            goto Accepting;
        }
        send leader, eEnd, (isChosen = isChosen, write = write);
        hasWrite = false;
        write = default(tWrite);
        nGood = 0;
        isChosen = false;
        goto Idle;
    }
}

// Runs one decree after the other, each with one proposer or two at once.
machine Leader {
    var acceptors: seq[machine];
    var first: machine;
    var second: machine;
    var client: machine;
    var write: tWrite;
    var n: int;
    var isChosen: bool;
    var chosen: tWrite;

    start state Init {
        entry {
            var i: int;
            while (i < nAcceptors) {
                acceptors += (i, new Acceptor());
                i = i + 1;
            }
            first = new Proposer((acceptors = acceptors, ballot = 1));
            second = new Proposer((acceptors = acceptors, ballot = 2));
            goto Ready;
        }
        defer eWrite, eRead;
    }

    state Ready {
        on eWrite do (request: (from: machine, write: tWrite)) {
            client = request.from;
            write = request.write;
            goto Deciding;
        }
        on eRead do (request: (from: machine, key: tKey)) {
            client = request.from;
            send acceptors[choose(nAcceptors)], eFetch, (from = this, key = request.key);
            goto Reading;
        }
    }

    state Deciding {
        entry {
            isChosen = false;
            send first, ePropose, (from = this, hasWrite = true, write = write);
            // The second was never told of the write: it can complete what the first has begun, or hinder it.
            send second, ePropose, (from = this, hasWrite = !takesOver, write = (key = write.key, val = AnyVal()));
            n = 2;
        }
        on eEnd do (end: (isChosen: bool, write: tWrite)) {
            var i: int;
            if (end.isChosen) {
                isChosen = true;
                chosen = end.write;
            }
            n = n - 1;
            if (n > 0) {
                return;
            }
            if (!isChosen) {
                // Both were hindered: the leader says what holds.
                chosen = write;
            }
            while (i < nAcceptors) {
                send acceptors[i], eLearn, (from = this, write = chosen);
                i = i + 1;
            }
            n = nAcceptors;
            goto Learning;
        }
        defer eWrite, eRead;
    }

    state Learning {
        on eLearned do {
            n = n - 1;
            if (n == 0) {
                chosen = default(tWrite);
                isChosen = false;
                send client, eWritten;
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

machine Client {
    var store: machine;
    var k: tKey;
    var v: tVal;

    start state Init {
        entry {
            store = new Leader();
            k = TheKey();
            v = TheVal();
            send store, eWrite, (from = this, write = (key = k, val = v));
        }
        on eWritten goto WriteOthers;
    }

    state WriteOthers {
        entry {
            if ($) {
                send store, eWrite, (from = this, write = (key = OtherKey(k), val = AnyVal()));
            } else {
                goto Check;
            }
        }
        on eWritten goto WriteOthers;
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

test param (nAcceptors in [3, 5], takesOver in [true]) tcStore [main = Client]: { Client, Leader, Proposer, Acceptor };
test param (nAcceptors in [3], takesOver in [false]) tcCareless [main = Client]: { Client, Leader, Proposer, Acceptor };
