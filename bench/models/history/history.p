// A monitor with history. Clients write to the keys of a store, each as often and whatever it likes. The spec remembers the last
// value and the last writer of every key and the last two keys, and checks what the store says it has done.

param nClients: int;

event eWrite: (key: int, value: int, from: machine);
event eWritten: (key: int, value: int);
event eOk;

machine Store {
    var content: map[int, int];

    start state Serving {
        on eWrite do (given: (key: int, value: int, from: machine)) {
            content[given.key] = given.value;
            announce eWritten, (key = given.key, value = given.value);
            send given.from, eOk;
        }
    }
}

machine Client {
    var store: machine;

    start state Writing {
        entry (given: machine) {
            store = given;
            write();
        }
        on eOk do { write(); }
    }

    fun write() {
        send store, eWrite, (key = choose(3), value = choose(3), from = this);
    }
}

spec History observes eWrite, eWritten {
    var first: int;
    var second: int;
    var third: int;
    var latest: seq[int];
    var nOpen: int;

    start state Watching {
        on eWrite do (given: (key: int, value: int, from: machine)) {
            nOpen = nOpen + 1;
            assert nOpen <= nClients, "more writes than clients";
        }
        on eWritten do (done: (key: int, value: int)) {
            nOpen = nOpen - 1;
            assert nOpen >= 0, "a write out of nowhere";
            if (done.key == 0) { first = done.value; }
            if (done.key == 1) { second = done.value; }
            if (done.key == 2) { third = done.value; }
            latest += (0, done.key);
            if (sizeof(latest) > 4) {
                latest -= (4);
            }
            assert latest[0] == done.key;
            assert first + second + third <= 6;
        }
    }
}

machine Driver {
    start state Init {
        entry {
            var store: machine;
            var i: int;
            store = new Store();
            while (i < nClients) {
                new Client(store);
                i = i + 1;
            }
        }
    }
}

test param (nClients in [2, 3, 4, 5, 6]) tcHistory [main = Driver]: assert History in { Store, Client, Driver };
