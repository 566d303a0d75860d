// Two-phase commit with a transaction manager that may stop at any moment, and a backup that takes over. The manager logs
// its decision at the backup before it tells any participant, so that the backup decides as it did; without a log, nobody was told
// anything, and the backup aborts. What is checked: no participant commits while another aborts, none commits against a
// vote, and in the end all have decided.

param nParticipants: int;
// Whether the decision is logged before participants hear of it.
param logsFirst: bool;

event ePrepare: machine;
event eVote: bool;
event eDecide: bool;
event eLog: bool;
event eStopped;

// What the monitors hear.
event eDecided: bool;
event eBegun;

machine Manager {
    var participants: seq[machine];
    var backup: machine;
    var nYes: int;
    // How many messages it sends or takes before it stops.
    var nLeft: int;

    start state Voting {
        entry (given: (participants: seq[machine], backup: machine)) {
            var i: int;
            participants = given.participants;
            backup = given.backup;
            nLeft = choose(3 * nParticipants + 1);
            while (i < sizeof(participants)) {
                if (stops()) {
                    goto Stopping;
                }
                send participants[i], ePrepare, this;
                i = i + 1;
            }
        }
        on eVote do (yes: bool) {
            if (stops()) {
                goto Stopping;
            }
            if (!yes) {
                goto Deciding, false;
            }
            nYes = nYes + 1;
            if (nYes == sizeof(participants)) {
                goto Deciding, true;
            }
        }
    }

    state Deciding {
        entry (commit: bool) {
            var i: int;
            if (logsFirst) {
                send backup, eLog, commit;
            }
            while (i < sizeof(participants)) {
                if (stops()) {
                    goto Stopping;
                }
                send participants[i], eDecide, commit;
                i = i + 1;
            }
            if (!logsFirst) {
                send backup, eLog, commit;
            }
        }
        ignore eVote;
    }

    state Stopping {
        entry {
            send backup, eStopped;
        }
        ignore eVote;
    }

    fun stops(): bool {
        nLeft = nLeft - 1;
        return nLeft < 0;
    }
}

machine Backup {
    var participants: seq[machine];
    var isLogged: bool;
    var commits: bool;

    start state Watching {
        entry (given: seq[machine]) {
            participants = given;
        }
        on eLog do (commit: bool) {
            isLogged = true;
            commits = commit;
        }
        on eStopped do {
            var i: int;
            while (i < sizeof(participants)) {
                send participants[i], eDecide, isLogged && commits;
                i = i + 1;
            }
        }
    }
}

machine Participant {
    var votedNo: bool;

    start state Working {
        on ePrepare do (manager: machine) {
            votedNo = $;
            send manager, eVote, !votedNo;
        }
        on eDecide do (commit: bool) {
            assert !(commit && votedNo), "committed against my vote";
            announce eDecided, commit;
            goto Decided, commit;
        }
    }

    // Manager and backup may both tell.
    state Decided {
        entry (committed: bool) {
            votedNo = false;
        }
        ignore ePrepare, eDecide;
    }
}

machine Driver {
    start state Begin {
        entry {
            var participants: seq[machine];
            var i: int;
            announce eBegun;
            while (i < nParticipants) {
                participants += (i, new Participant());
                i = i + 1;
            }
            new Manager((participants = participants, backup = new Backup(participants)));
        }
    }
}

spec Atomicity observes eDecided {
    var nCommitted: int;
    var nAborted: int;

    start state Watching {
        on eDecided do (commit: bool) {
            if (commit) {
                nCommitted = nCommitted + 1;
            } else {
                nAborted = nAborted + 1;
            }
            assert nCommitted == 0 || nAborted == 0, "committed here, aborted there";
        }
    }
}

spec AllDecide observes eBegun, eDecided {
    var n: int;

    start cold state Before {
        on eBegun goto Open;
    }
    hot state Open {
        on eDecided do {
            n = n + 1;
            if (n == nParticipants) {
                goto Closed;
            }
        }
    }
    cold state Closed {
        ignore eDecided;
    }
}

module Managed = { Driver, Manager, Backup, Participant };

test param (nParticipants in [2, 3, 4, 5], logsFirst in [true]) tcBackup [main = Driver]:
    assert Atomicity, AllDecide in Managed;
test param (nParticipants in [3], logsFirst in [false]) tcHasty [main = Driver]:
    assert Atomicity, AllDecide in Managed;
