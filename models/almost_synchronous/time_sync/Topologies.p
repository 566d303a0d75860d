// The source of time at the head of a line: tells the time again and again, and waits for nobody.
machine Source {
    var first: machine;
    var now: int;

    start state Begin {
        entry (given: machine) {
            first = given;
            goto Telling;
        }
    }

    state Telling {
        entry {
            send first, eSetClock, (number = 0, time = (now = now, reference = now));
            now = (now + 1) % nTimes;
            goto Telling;
        }
    }
}

// The source of time in a ring: begins a round when the one before has come round, and looks at what comes.
machine RingSource {
    var first: machine;
    var now: int;

    start state Begin {
        on eBehind do (given: machine) {
            first = given;
            goto Telling;
        }
        defer eSetClock;
    }

    state Telling {
        entry {
            send first, eSetClock, (number = 0, time = (now = now, reference = now));
        }
        on eSetClock do (given: (number: int, time: tTime)) {
            assert given.time.reference == now, "another round came round";
            assert ahead(given.time.now, now) <= nNodes, "the round took too many ticks";
            now = (now + 1) % nTimes;
            goto Telling;
        }
    }
}

// Takes the end of a round for new time, as the slave port of any other node would, and passes it on. A mutant.
machine LoopingSource {
    var first: machine;
    var now: int;

    start state Begin {
        on eBehind do (given: machine) {
            first = given;
            goto Telling;
        }
        defer eSetClock;
    }

    state Telling {
        entry {
            send first, eSetClock, (number = 0, time = (now = now, reference = now));
        }
        on eSetClock do (given: (number: int, time: tTime)) {
            if ($) {
                now = (now + 1) % nTimes;
                goto Telling;
            }
            send first, eSetClock, (number = 0, time = given.time);
        }
    }
}

// Each node is created at a place of its own, so that one can tell from the program who talks to whom.
machine Line3 {
    start state Begin {
        entry {
            var first: machine;
            var second: machine;
            var last: machine;
            first = new Master();
            second = new Master();
            last = new Last();
            send first, eBehind, new Slave((number = 1, before = first, own = second));
            send second, eBehind, new Slave((number = 2, before = second, own = last));
            new Source(first);
            new Oscillator(first);
            new Oscillator(second);
        }
    }
}

machine Line4 {
    start state Begin {
        entry {
            var first: machine;
            var second: machine;
            var third: machine;
            var last: machine;
            first = new Master();
            second = new Master();
            third = new Master();
            last = new Last();
            send first, eBehind, new Slave((number = 1, before = first, own = second));
            send second, eBehind, new Slave((number = 2, before = second, own = third));
            send third, eBehind, new Slave((number = 3, before = third, own = last));
            new Source(first);
            new Oscillator(first);
            new Oscillator(second);
            new Oscillator(third);
        }
    }
}

machine Ring3 {
    start state Begin {
        entry {
            var source: machine;
            var first: machine;
            var second: machine;
            var third: machine;
            source = new RingSource();
            first = new Master();
            second = new Master();
            third = new Master();
            send first, eBehind, new Slave((number = 1, before = first, own = second));
            send second, eBehind, new Slave((number = 2, before = second, own = third));
            send third, eBehind, new Slave((number = 3, before = third, own = source));
            send source, eBehind, first;
            new Oscillator(first);
            new Oscillator(second);
            new Oscillator(third);
        }
    }
}
