// A monitor with history. Clients write to the registers of a store, each as often and whatever it likes. The spec remembers the last
// value of each register and the last three registers that were written, and checks every write against both.

param nClients: int;

event eWrite: (register: int, value: int, from: machine);
event eWritten: (register: int, old: int, value: int);
event eOk;

machine Register {
    var me: int;
    var content: int;

    start state Serving {
        entry (given: int) { me = given; }
        on eWrite do (given: (register: int, value: int, from: machine)) {
            announce eWritten, (register = me, old = content, value = given.value);
            content = given.value;
            send given.from, eOk;
        }
    }
}

machine Client {
    var registers: seq[machine];

    start state Writing {
        entry (given: seq[machine]) {
            registers = given;
            write();
        }
        on eOk do { write(); }
    }

    fun write() {
        var at: int;
        at = choose(5);
        send registers[at], eWrite, (register = at, value = choose(4), from = this);
    }
}

spec History observes eWrite, eWritten {
    var first: int;
    var second: int;
    var third: int;
    var fourth: int;
    var fifth: int;
    var latest: int;
    var beforeLatest: int;
    var oldest: int;
    var nOpen: int;

    start state Watching {
        on eWrite do (given: (register: int, value: int, from: machine)) {
            nOpen = nOpen + 1;
            assert nOpen <= nClients, "more writes than clients";
        }
        on eWritten do (done: (register: int, old: int, value: int)) {
            nOpen = nOpen - 1;
            assert nOpen >= 0, "a write out of nowhere";
            if (done.register == 0) { assert first == done.old; first = done.value; }
            if (done.register == 1) { assert second == done.old; second = done.value; }
            if (done.register == 2) { assert third == done.old; third = done.value; }
            if (done.register == 3) { assert fourth == done.old; fourth = done.value; }
            if (done.register == 4) { assert fifth == done.old; fifth = done.value; }
            oldest = beforeLatest;
            beforeLatest = latest;
            latest = done.register;
            assert oldest >= 0 && oldest < 5, "no such register";
        }
    }
}

machine Driver {
    start state Init {
        entry {
            var registers: seq[machine];
            var i: int;
            while (i < 5) {
                registers += (i, new Register(i));
                i = i + 1;
            }
            i = 0;
            while (i < nClients) {
                new Client(registers);
                i = i + 1;
            }
        }
    }
}

test param (nClients in [1, 2, 3, 4, 5, 6]) tcHistory [main = Driver]: assert History in { Register, Client, Driver };
