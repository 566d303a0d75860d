// Conflict resolution between regions. Clients insert, update and delete one item, in any region. A region gives each command a time,
// later than all that it knows, applies it to its replicas and sends it to the other region, which does the same. Of two
// commands the later one wins, and of two at the same time that of the region with the larger number. What is checked: a
// replica never goes back, and when all commands have reached all replicas, all have the same winner.

param nCommands: int;
param breaksTies: bool;

type tStamp = (time: int, region: int);

enum tKind { INSERT, UPDATE, DELETE }

event eCommand: (kind: tKind, from: machine);
event eDone;
event eOther: machine;
event eReplicate: (stamp: tStamp, kind: tKind);
event eApply: (stamp: tStamp, kind: tKind);

// For the monitor.
event eAccepted: tStamp;
event eApplied: (before: tStamp, after: tStamp);

fun isLater(a: tStamp, b: tStamp): bool {
    if (a.time == b.time) {
        return breaksTies && a.region > b.region;
    }
    return a.time > b.time;
}

machine Replica {
    var stamp: tStamp;
    var isThere: bool;

    start state Applying {
        on eApply do (command: (stamp: tStamp, kind: tKind)) {
            var before: tStamp;
            before = stamp;
            if (isLater(command.stamp, stamp)) {
                stamp = command.stamp;
                // A deleted item leaves its stamp behind; an update of an item that is not there brings it back.
                isThere = command.kind != DELETE;
            }
            announce eApplied, (before = before, after = stamp);
        }
    }
}

machine Region {
    var me: int;
    var replicas: seq[machine];
    var other: machine;
    var time: int;

    start state Begin {
        entry (given: int) {
            me = given;
            replicas += (0, new Replica());
            replicas += (1, new Replica());
            replicas += (2, new Replica());
        }
        on eOther do (given: machine) {
            other = given;
            goto Serving;
        }
        defer eCommand, eReplicate;
    }

    state Serving {
        on eCommand do (command: (kind: tKind, from: machine)) {
            time = time + 1;
            announce eAccepted, (time = time, region = me);
            apply((time = time, region = me), command.kind);
            send other, eReplicate, (stamp = (time = time, region = me), kind = command.kind);
            send command.from, eDone;
        }
        on eReplicate do (command: (stamp: tStamp, kind: tKind)) {
            if (command.stamp.time > time) {
                time = command.stamp.time;
            }
            apply(command.stamp, command.kind);
        }
    }

    fun apply(stamp: tStamp, kind: tKind) {
        send replicas[0], eApply, (stamp = stamp, kind = kind);
        send replicas[1], eApply, (stamp = stamp, kind = kind);
        send replicas[2], eApply, (stamp = stamp, kind = kind);
    }
}

// Hands one client's commands to a region of its choice.
machine Gateway {
    var regions: seq[machine];

    start state Routing {
        entry (given: seq[machine]) { regions = given; }
        on eCommand do (command: (kind: tKind, from: machine)) {
            send regions[choose(2)], eCommand, command;
        }
    }
}

machine Client {
    var gateway: machine;
    var nSent: int;

    start state Asking {
        entry (given: machine) {
            gateway = given;
            ask();
        }
        on eDone do { ask(); }
    }

    fun ask() {
        if (nSent < nCommands) {
            nSent = nSent + 1;
            send gateway, eCommand, (kind = anyKind(), from = this);
        }
    }

    fun anyKind(): tKind {
        if ($) {
            return INSERT;
        }
        if ($) {
            return UPDATE;
        }
        return DELETE;
    }
}

machine Driver {
    start state Begin {
        entry {
            var regions: seq[machine];
            regions += (0, new Region(1));
            regions += (1, new Region(2));
            send regions[0], eOther, regions[1];
            send regions[1], eOther, regions[0];
            new Client(new Gateway(regions));
            new Client(new Gateway(regions));
        }
    }
}

spec Converges observes eAccepted, eApplied {
    var winner: tStamp;
    var nHave: int;
    var nApplied: int;

    start state Watching {
        on eAccepted do (stamp: tStamp) {
            if (stamp.time > winner.time || stamp.time == winner.time && stamp.region > winner.region) {
                winner = stamp;
                nHave = 0;
            }
        }
        on eApplied do (what: (before: tStamp, after: tStamp)) {
            assert what.before == what.after || what.after.time >= what.before.time, "a replica goes back";
            nApplied = nApplied + 1;
            if (what.after == winner && what.before != winner) {
                nHave = nHave + 1;
            }
            if (nApplied == 6 * 2 * nCommands) {
                assert nHave == 6, "replicas differ in the end";
            }
        }
    }
}

module Regions = { Replica, Region, Gateway, Client, Driver };

// 2 regions of 3 replicas, 2 clients with their gateways, the driver: 13 machines.
test param (nCommands in [1, 2, 3], breaksTies in [true]) tcRegions [main = Driver]: assert Converges in Regions;
test param (nCommands in [3], breaksTies in [false]) tcTies [main = Driver]: assert Converges in Regions;
