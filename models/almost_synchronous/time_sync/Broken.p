// What can go wrong when an exchange begins anew.

// Answers stale requests as if they were of the exchange under way. A mutant.
machine ObligingMaster {
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
            send behind, eDelayResponse, (exchange = exchange, time = time);
            finish();
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
