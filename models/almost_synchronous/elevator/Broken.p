// What can go wrong with parts that may be stopped half-way.

// Answers a cancellation even when it has fired before. A mutant.
machine ChattyTimer {
    var owner: machine;

    start state Off {
        entry (given: machine) {
            if (owner == null) {
                owner = given;
            }
        }
        on eStartTimer goto On;
        on eCancelTimer do {
            send owner, eTimerStopped;
        }
    }

    state On {
        entry {
            if ($) {
                send owner, eTimeOut;
                goto Off, owner;
            }
        }
        on eCancelTimer do {
            send owner, eTimerStopped;
            goto Off, owner;
        }
    }
}

// Goes on closing when it is stopped at the last moment, and says that it has stopped. A mutant.
machine HeavyDoor {
    var controller: machine;

    start state Begin {
        entry (given: machine) {
            controller = given;
            goto Shut;
        }
    }

    state Shut {
        on eOpenDoor goto Widening;
        ignore eStopDoor;
    }

    state Widening {
        entry {
            send controller, eDoorOpened;
            goto Wide;
        }
    }

    state Wide {
        on eOpenDoor goto Widening;
        on eCloseDoor goto Narrowing;
        ignore eStopDoor;
    }

    state Narrowing {
        entry {
            if ($) {
                send controller, eDoorClosed;
                goto Shut;
            }
            if ($) {
                send controller, eDoorBlocked;
                goto Wide;
            }
        }
        on eStopDoor do {
            send controller, eDoorStopped;
            if ($) {
                send controller, eDoorClosed;
                goto Shut;
            }
            goto Wide;
        }
    }
}
