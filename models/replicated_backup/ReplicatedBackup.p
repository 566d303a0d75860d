// Replicated backup. Agents back up versions of objects to a group of three replicas each, and record in a catalog which version is
// durable. A lock service sees to it that one agent at a time backs up an object. A replica may fail to store; a timer may end the
// wait for a slow one. An agent records a version when a majority has stored it. What is checked: the catalog has no version that
// fewer than two replicas have stored, and versions of an object only grow.

param nAgents: int;
param majority: int;

event eAcquire: (object: int, from: machine);
event eGranted: int;
event eRelease: int;
event eStore: (version: int, from: machine);
event eAck: (version: int, ok: bool);
event eStartTimer: (version: int, from: machine);
event eTimeout: int;
event eRecord: (object: int, version: int, from: machine);
event eRecorded;
event eBegin: machine;

// For the monitor.
event eDurable: (object: int, version: int);
event eIsStored: (object: int, version: int);

machine LockService {
    var holds: set[int];
    var waiting: seq[(object: int, from: machine)];
    // The version that the next holder of an object writes.
    var next: map[int, int];

    start state Serving {
        on eAcquire do (request: (object: int, from: machine)) {
            if (request.object in holds) {
                waiting += (sizeof(waiting), request);
            } else {
                holds += (request.object);
                grant(request);
            }
        }
        on eRelease do (object: int) {
            var i: int;
            var request: (object: int, from: machine);
            holds -= (object);
            while (i < sizeof(waiting)) {
                if (waiting[i].object == object) {
                    request = waiting[i];
                    waiting -= (i);
                    holds += (object);
                    grant(request);
                    return;
                }
                i = i + 1;
            }
        }
    }

    fun grant(request: (object: int, from: machine)) {
        if (!(request.object in next)) {
            next[request.object] = 0;
        }
        next[request.object] = next[request.object] + 1;
        send request.from, eGranted, next[request.object];
    }
}

machine Replica {
    var object: int;

    start state Storing {
        entry (given: int) { object = given; }
        on eStore do (order: (version: int, from: machine)) {
            var ok: bool;
            ok = $;
            if (ok) {
                announce eIsStored, (object = object, version = order.version);
            }
            send order.from, eAck, (version = order.version, ok = ok);
        }
    }
}

machine Timer {
    start state Waiting {
        on eStartTimer do (order: (version: int, from: machine)) {
            if ($) {
                send order.from, eTimeout, order.version;
            }
        }
    }
}

machine Catalog {
    start state Recording {
        on eRecord do (entry_: (object: int, version: int, from: machine)) {
            announce eDurable, (object = entry_.object, version = entry_.version);
            send entry_.from, eRecorded;
        }
    }
}

machine Agent {
    var object: int;
    var service: machine;
    var catalog: machine;
    var replicas: seq[machine];
    var timer: machine;
    var version: int;
    var nStored: int;
    var nAnswers: int;

    start state Begin {
        entry (given: (object: int, service: machine, catalog: machine, replicas: seq[machine])) {
            object = given.object;
            service = given.service;
            catalog = given.catalog;
            replicas = given.replicas;
            timer = new Timer();
            send service, eAcquire, (object = object, from = this);
        }
        on eGranted do (given: int) {
            version = given;
            goto Storing;
        }
    }

    state Storing {
        entry {
            var i: int;
            send timer, eStartTimer, (version = version, from = this);
            while (i < sizeof(replicas)) {
                send replicas[i], eStore, (version = version, from = this);
                i = i + 1;
            }
        }
        on eAck do (answer: (version: int, ok: bool)) {
            nAnswers = nAnswers + 1;
            if (answer.ok) {
                nStored = nStored + 1;
            }
            if (nStored == majority) {
                goto Recording;
            }
            if (nAnswers == sizeof(replicas)) {
                goto Ending;
            }
        }
        on eTimeout goto Ending;
    }

    state Recording {
        entry {
            send catalog, eRecord, (object = object, version = version, from = this);
        }
        on eRecorded goto Ending;
        ignore eAck, eTimeout;
    }

    state Ending {
        entry {
            send service, eRelease, object;
        }
        ignore eAck, eTimeout;
    }
}

machine Driver {
    start state Begin {
        entry {
            var service: machine;
            var catalog: machine;
            var groups: seq[seq[machine]];
            var replicas: seq[machine];
            var object: int;
            var i: int;
            service = new LockService();
            catalog = new Catalog();
            while (object < 2) {
                i = 0;
                replicas = default(seq[machine]);
                while (i < 3) {
                    replicas += (i, new Replica(object));
                    i = i + 1;
                }
                groups += (object, replicas);
                object = object + 1;
            }
            i = 0;
            while (i < nAgents) {
                new Agent((object = i % 2, service = service, catalog = catalog, replicas = groups[i % 2]));
                i = i + 1;
            }
        }
    }
}

spec CatalogIsTrue observes eIsStored, eDurable {
    // By object: how many replicas have the newest version, and which that is.
    var newest: seq[int];
    var nCopies: seq[int];
    var recorded: seq[int];

    start state Watching {
        entry {
            newest = default(seq[int]);
            newest += (0, 0);
            newest += (1, 0);
            nCopies += (0, 0);
            nCopies += (1, 0);
            recorded += (0, 0);
            recorded += (1, 0);
        }
        on eIsStored do (what: (object: int, version: int)) {
            if (what.version > newest[what.object]) {
                newest[what.object] = what.version;
                nCopies[what.object] = 0;
            }
            if (what.version == newest[what.object]) {
                nCopies[what.object] = nCopies[what.object] + 1;
            }
        }
        on eDurable do (what: (object: int, version: int)) {
            assert what.version > recorded[what.object], "versions do not grow";
            assert what.version < newest[what.object] || nCopies[what.object] >= 2,
                "recorded before two replicas have it";
            recorded[what.object] = what.version;
        }
    }
}

module Backup = { LockService, Replica, Timer, Catalog, Agent, Driver };

// 3 agents: 15 machines; 4 agents: 17.
test param (nAgents in [1, 2, 3, 4], majority in [2]) tcBackup [main = Driver]: assert CatalogIsTrue in Backup;
test param (nAgents in [4], majority in [1]) tcHasty [main = Driver]: assert CatalogIsTrue in Backup;
