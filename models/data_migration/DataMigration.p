// Data migration behind a lock service. Each key moves from an old shard to a new one while clients write to it. Whoever touches a key
// holds its lock: a migrator reads the old shard, writes the new one and then deletes the old value; a client asks the old shard, and the
// new one if the value has moved, and writes where it is. Two migrators try each key. What is checked: a value is in one shard
// whenever its lock is free, and no write that was acknowledged is lost.

param nKeys: int;
param nWrites: int;
param clientsLock: bool;

event eFindLock: (key: int, from: machine);
event eLockIs: machine;
event eAcquire: machine;
event eGranted;
event eRelease;
event eRead: machine;
event eValue: (has: bool, value: int);
event eWrite: (value: int, from: machine);
event eStored;
event eDelete: machine;
event eDeleted;

// For the monitors.
event eAcknowledged: (key: int, value: int);
event eFree: int;
event eHas: (key: int, isNew: bool, value: int);
event eGone: int;

machine LockService {
    var lockOf: seq[machine];

    start state Serving {
        entry {
            var i: int;
            while (i < nKeys) {
                lockOf += (i, new Lock(i));
                i = i + 1;
            }
        }
        on eFindLock do (request: (key: int, from: machine)) {
            send request.from, eLockIs, lockOf[request.key];
        }
    }
}

machine Lock {
    var key: int;
    var waiting: seq[machine];
    var isHeld: bool;

    start state Granting {
        entry (given: int) { key = given; }
        on eAcquire do (from: machine) {
            if (isHeld) {
                waiting += (sizeof(waiting), from);
            } else {
                isHeld = true;
                send from, eGranted;
            }
        }
        on eRelease do {
            var next: machine;
            announce eFree, key;
            if (sizeof(waiting) > 0) {
                next = waiting[0];
                waiting -= (0);
                send next, eGranted;
            } else {
                isHeld = false;
            }
        }
    }
}

machine Shard {
    var key: int;
    var isNew: bool;
    var has: bool;
    var value: int;

    start state Serving {
        entry (given: (key: int, isNew: bool)) {
            key = given.key;
            isNew = given.isNew;
            has = !isNew;
        }
        on eRead do (from: machine) {
            send from, eValue, (has = has, value = value);
        }
        on eWrite do (order: (value: int, from: machine)) {
            has = true;
            value = order.value;
            announce eHas, (key = key, isNew = isNew, value = value);
            send order.from, eStored;
        }
        on eDelete do (from: machine) {
            has = false;
            value = 0;
            announce eGone, key;
            send from, eDeleted;
        }
    }
}

machine Migrator {
    var service: machine;
    var old: machine;
    var new_: machine;
    var held: machine;
    var value: int;

    start state Finding {
        entry (given: (key: int, service: machine, old: machine, new_: machine)) {
            service = given.service;
            old = given.old;
            new_ = given.new_;
            send service, eFindLock, (key = given.key, from = this);
        }
        on eLockIs do (lock: machine) {
            held = lock;
            send held, eAcquire, this;
        }
        on eGranted goto Moving;
    }

    state Moving {
        entry {
            send old, eRead, this;
        }
        on eValue do (got: (has: bool, value: int)) {
            if (got.has) {
                value = got.value;
                send new_, eWrite, (value = value, from = this);
            } else {
                send held, eRelease;
                goto Done;
            }
        }
        on eStored do {
            send old, eDelete, this;
        }
        on eDeleted do {
            send held, eRelease;
            goto Done;
        }
    }

    state Done { }
}

machine Client {
    var key: int;
    var service: machine;
    var old: machine;
    var new_: machine;
    var held: machine;
    var nDone: int;

    start state Finding {
        entry (given: (key: int, service: machine, old: machine, new_: machine)) {
            key = given.key;
            service = given.service;
            old = given.old;
            new_ = given.new_;
            send service, eFindLock, (key = given.key, from = this);
        }
        on eLockIs do (lock: machine) {
            held = lock;
            if (!clientsLock) {
                goto Looking;
            }
            send held, eAcquire, this;
        }
        on eGranted goto Looking;
    }

    state Looking {
        entry {
            send old, eRead, this;
        }
        on eValue do (got: (has: bool, value: int)) {
            if (got.has) {
                send old, eWrite, (value = nDone + 1, from = this);
            } else {
                send new_, eWrite, (value = nDone + 1, from = this);
            }
        }
        on eStored do {
            nDone = nDone + 1;
            announce eAcknowledged, (key = key, value = nDone);
            if (clientsLock) {
                send held, eRelease;
                if (nDone < nWrites && $) {
                    send held, eAcquire, this;
                }
            }
        }
        on eGranted goto Looking;
    }
}

machine Driver {
    start state Begin {
        entry {
            var service: machine;
            var old: machine;
            var new_: machine;
            var key: int;
            service = new LockService();
            while (key < nKeys) {
                old = new Shard((key = key, isNew = false));
                new_ = new Shard((key = key, isNew = true));
                new Migrator((key = key, service = service, old = old, new_ = new_));
                new Client((key = key, service = service, old = old, new_ = new_));
                new Migrator((key = key, service = service, old = old, new_ = new_));
                key = key + 1;
            }
        }
    }
}

// A key's value is in one shard while its lock is free, and it is the last that a client wrote.
spec NothingIsLost observes eAcknowledged, eHas, eGone, eFree {
    var inOld: seq[bool];
    var inNew: seq[bool];
    var value: seq[int];
    var written: seq[int];

    start state Watching {
        entry {
            var i: int;
            while (i < nKeys) {
                inOld += (i, true);
                inNew += (i, false);
                value += (i, 0);
                written += (i, 0);
                i = i + 1;
            }
        }
        on eHas do (what: (key: int, isNew: bool, value: int)) {
            if (what.isNew) {
                inNew[what.key] = true;
            } else {
                inOld[what.key] = true;
            }
            value[what.key] = what.value;
        }
        on eGone do (key: int) {
            assert inNew[key], "the only copy is deleted";
            inOld[key] = false;
        }
        on eAcknowledged do (what: (key: int, value: int)) {
            written[what.key] = what.value;
            assert value[what.key] == what.value, "a write was lost";
        }
        on eFree do (key: int) {
            assert inOld[key] != inNew[key], "a value in two places, or none";
            assert value[key] == written[key], "a value that nobody wrote";
        }
    }
}

module Migration = { LockService, Lock, Shard, Migrator, Client, Driver };

// 3 keys: 20 machines.
test param (nKeys in [1, 2, 3], nWrites in [2], clientsLock in [true]) tcMigration [main = Driver]:
    assert NothingIsLost in Migration;
test param (nKeys in [3], nWrites in [2], clientsLock in [false]) tcUnlocked [main = Driver]:
    assert NothingIsLost in Migration;
