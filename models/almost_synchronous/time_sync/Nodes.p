// Time synchronisation from node to node. A node has a slave port, which learns the time from the node before it, and a
// master port, which keeps the node's clock and teaches the node behind it. An exchange between a master port and the
// slave port behind it has four messages: a sync, a follow-up with the time of the sync, a request of the slave to
// find out how long messages take, and a response with the time then. With the response the slave sets the
// clock of its own master port, which begins an exchange with the next node.
//
// Rounds follow each other for ever, and so do the ticks of the oscillators, which wait for nothing: inboxes have no
// bound. Clocks count modulo their size. During one exchange a clock gains at most one tick, and a master that has waited for
// too long begins its exchange anew, once; so requests may be stale, and are told apart by the number of the
// exchange. New time from before, while an exchange is under way, is kept until it is over.
//
// Every message with a time also has the reference of its round, which no node looks at: it says how far off a clock is.

param nNodes: int;
param clockSize: int;
// How many different times the source tells before it begins again.
param nTimes: int;

type tTime = (now: int, reference: int);

// Master and slave port of two nodes.
event eSync: int;
event eFollowUp: (exchange: int, time: tTime);
event eDelayRequest: int;
event eDelayResponse: (exchange: int, time: tTime);

// Within a node.
event eSetClock: (number: int, time: tTime);
event eTick;

// Wiring: the slave port behind a master port.
event eBehind: machine;

// How far a is ahead of b, round the clock.
fun ahead(a: int, b: int): int {
    return (a - b + clockSize) % clockSize;
}

// The master port of a node, and its clock.
machine Master {
    var behind: machine;
    var time: tTime;
    // Of the exchange under way.
    var exchange: int;
    var isTicked: bool;
    var isSecond: bool;
    // What came in the meantime.
    var hasNext: bool;
    var next: tTime;

    start state Begin {
        on eBehind do (slave: machine) {
            behind = slave;
            goto Idle;
        }
        defer eSetClock, eTick;
    }

    state Idle {
        on eSetClock do (given: (number: int, time: tTime)) {
            time = given.time;
            isTicked = false;
            isSecond = false;
            goto Teaching;
        }
        ignore eTick;
    }

    state Teaching {
        entry {
            exchange = (exchange + 1) % 3;
            send behind, eSync, exchange;
            send behind, eFollowUp, (exchange = exchange, time = time);
        }
        on eDelayRequest do (of: int) {
            if (of == exchange) {
                send behind, eDelayResponse, (exchange = exchange, time = time);
                finish();
            }
        }
        on eTick do {
            if (!isTicked) {
                isTicked = true;
                time.now = (time.now + 1) % clockSize;
            } else if (!isSecond && $) {
                isSecond = true;
                goto Teaching;
            }
        }
        on eSetClock do (given: (number: int, time: tTime)) {
            hasNext = true;
            next = given.time;
        }
    }

    fun finish() {
        isTicked = false;
        isSecond = false;
        time = default(tTime);
        if (hasNext) {
            time = next;
            hasNext = false;
            next = default(tTime);
            goto Teaching;
        }
        goto Idle;
    }
}

// The end of a line has nobody to teach.
machine Last {
    start state Keeping {
        on eSetClock do (given: (number: int, time: tTime)) {
            assert ahead(given.time.now, given.time.reference) < nNodes, "the end of the line is far off";
        }
        ignore eTick;
    }
}

machine Slave {
    var number: int;
    var before: machine;
    var own: machine;
    var exchange: int;
    var synced: tTime;

    start state Begin {
        entry (given: (number: int, before: machine, own: machine)) {
            number = given.number;
            before = given.before;
            own = given.own;
            goto Waiting;
        }
    }

    state Waiting {
        on eSync do (of: int) {
            exchange = of;
            goto Syncing;
        }
    }

    state Syncing {
        on eFollowUp do (of: (exchange: int, time: tTime)) {
            assert of.exchange == exchange, "a follow-up of another sync";
            synced = of.time;
            send before, eDelayRequest, exchange;
            goto Asking;
        }
    }

    // Asked for a response, or the master has begun anew.
    state Asking {
        on eDelayResponse do (of: (exchange: int, time: tTime)) {
            assert of.exchange == exchange, "a response to another request";
            assert ahead(of.time.now, synced.now) <= 1, "a master that gained two ticks";
            exchange = 0;
            synced = default(tTime);
            send own, eSetClock, (number = number, time = of.time);
            goto Waiting;
        }
        on eSync do (of: int) {
            assert of != exchange, "the same sync twice";
            exchange = of;
            goto Syncing;
        }
    }
}

machine Oscillator {
    var clock: machine;

    start state Begin {
        entry (given: machine) {
            clock = given;
            goto Ticking;
        }
    }

    state Ticking {
        entry {
            send clock, eTick;
            goto Ticking;
        }
    }
}
