// Two-phase commit with a timer: clients ask for transactions, one after the other; a coordinator asks all participants, which
// vote as they like; a timer may call for an abort. The coordinator waits for all votes in any case. What is checked: no transaction
// commits in one place and aborts in another.

param nParticipants: int;
param nTransactions: int;

event eRequest: machine;
event eReply: bool;
event ePrepare;
event eVote: bool;
event eDecide: bool;
event eStart: machine;
event eTimeout;

// For the monitor.
event eDecided: bool;

machine Coordinator {
    var participants: seq[machine];
    var timer: machine;
    var client: machine;
    var nVotes: int;
    var commits: bool;

    start state Begin {
        entry (given: (participants: seq[machine], timer: machine)) {
            participants = given.participants;
            timer = given.timer;
            goto Idle;
        }
        defer eRequest;
    }

    state Idle {
        on eRequest do (from: machine) {
            client = from;
            goto Voting;
        }
        ignore eTimeout;
    }

    state Voting {
        entry {
            var i: int;
            nVotes = 0;
            commits = true;
            send timer, eStart, this;
            while (i < sizeof(participants)) {
                send participants[i], ePrepare;
                i = i + 1;
            }
        }
        on eVote do (yes: bool) {
            var i: int;
            nVotes = nVotes + 1;
            commits = commits && yes;
            if (nVotes == sizeof(participants)) {
                while (i < sizeof(participants)) {
                    send participants[i], eDecide, commits;
                    i = i + 1;
                }
                send client, eReply, commits;
                goto Idle;
            }
        }
        on eTimeout do {
            commits = false;
        }
        defer eRequest;
    }
}

machine Timer {
    start state Waiting {
        on eStart do (coordinator: machine) {
            if ($) {
                send coordinator, eTimeout;
            }
        }
    }
}

machine Participant {
    var coordinator: machine;

    start state Begin {
        on eStart do (given: machine) {
            coordinator = given;
            goto Ready;
        }
    }

    state Ready {
        on ePrepare do {
            send coordinator, eVote, $;
        }
        on eDecide do (commits: bool) {
            announce eDecided, commits;
        }
    }
}

machine Client {
    var coordinator: machine;
    var nLeft: int;

    start state Asking {
        entry (given: machine) {
            coordinator = given;
            nLeft = nTransactions;
            ask();
        }
        on eReply do (commits: bool) {
            ask();
        }
    }

    fun ask() {
        if (nLeft > 0) {
            nLeft = nLeft - 1;
            send coordinator, eRequest, this;
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
                send participants[i], eStart, coordinator;
                i = i + 1;
            }
            new Client(coordinator);
            new Client(coordinator);
        }
    }
}

spec Atomicity observes eDecided {
    var nCommitted: int;
    var nAborted: int;

    start state Watching {
        on eDecided do (commits: bool) {
            if (commits) {
                nCommitted = nCommitted + 1;
            } else {
                nAborted = nAborted + 1;
            }
            assert nCommitted == 0 || nAborted == 0, "a transaction commits here and aborts there";
            if (nCommitted + nAborted == nParticipants) {
                nCommitted = 0;
                nAborted = 0;
            }
        }
    }
}

test param (nParticipants in [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12], nTransactions in [2]) tcCommit [main = Driver]:
    assert Atomicity in { Coordinator, Timer, Participant, Client, Driver };
