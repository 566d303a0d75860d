// Bounded asynchrony: nProcesses processes in a ring count rounds, modulo `bound`. A scheduler lets all of them begin a round, and
// each may go on as soon as it has the counts of both neighbors for its round, without waiting for the others. What is checked: a count that arrives is that of
// the round of the receiver, or of the next one; so neighbors are never more than one round apart.

param nProcesses: int;
param bound: int;

event eNeighbors: (left: machine, right: machine);
event eRound;
event eDone;
event eCount: int;

machine Process {
    var scheduler: machine;
    var left: machine;
    var right: machine;
    var count: int;
    var nHeard: int;

    start state Begin {
        entry (given: machine) {
            scheduler = given;
        }
        on eNeighbors do (given: (left: machine, right: machine)) {
            left = given.left;
            right = given.right;
            send scheduler, eDone;
            goto Waiting;
        }
        defer eRound, eCount;
    }

    state Waiting {
        on eRound do {
            count = (count + 1) % bound;
            nHeard = 0;
            send left, eCount, count;
            send right, eCount, count;
            goto Counting;
        }
        // A neighbor is ahead.
        defer eCount;
    }

    state Counting {
        on eCount do (other: int) {
            assert other == count || other == (count + 1) % bound, "neighbors are more than one round apart";
            nHeard = nHeard + 1;
            if (nHeard == 2) {
                send scheduler, eDone;
                goto Waiting;
            }
        }
        defer eRound;
    }
}

machine Scheduler {
    var processes: seq[machine];
    var n: int;

    start state Begin {
        entry {
            var i: int;
            while (i < nProcesses) {
                processes += (i, new Process(this));
                i = i + 1;
            }
            i = 0;
            while (i < nProcesses) {
                send processes[i], eNeighbors, (left = processes[(i + nProcesses - 1) % nProcesses],
                    right = processes[(i + 1) % nProcesses]);
                i = i + 1;
            }
        }
        on eDone do {
            n = n + 1;
            if (n == nProcesses) {
                goto Round;
            }
        }
    }

    state Round {
        entry {
            var i: int;
            n = 0;
            while (i < nProcesses) {
                send processes[i], eRound;
                i = i + 1;
            }
        }
        on eDone do {
            n = n + 1;
            if (n == nProcesses) {
                goto Round;
            }
        }
    }
}

test param (nProcesses in [3, 4, 5], bound in [3]) tcBounded [main = Scheduler]: { Scheduler, Process };
