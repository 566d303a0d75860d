// What can go wrong with two phases.

// Waits for an order also when it has refused, though nobody will send one. A mutant.
machine StubbornLift {
    var controller: machine;
    var number: int;
    var height: int;
    var isUp: bool;

    start state Begin {
        entry (given: (controller: machine, number: int)) {
            controller = given.controller;
            number = given.number;
            goto Released;
        }
    }

    state Released {
        on eJoin do (at: int) {
            height = at;
            announce eCarries, (number = number, height = height);
            send controller, eJoined, number;
            goto Standing;
        }
    }

    state Standing {
        on ePrepare do (goUp: bool) {
            isUp = goUp;
            if (isUp && height == maxHeight || !isUp && height == 0 || $) {
                isUp = false;
                send controller, eRefused, number;
            } else {
                send controller, eReady, number;
            }
            goto Prepared;
        }
        on eLeave do {
            height = 0;
            announce eReleased, number;
            send controller, eLeft, number;
            goto Released;
        }
    }

    state Prepared {
        on eGo do {
            if (isUp) {
                height = height + 1;
            } else {
                height = height - 1;
            }
            isUp = false;
            assert height >= 0 && height <= maxHeight, "off the rails";
            announce eCarries, (number = number, height = height);
            send controller, eMoved, (number = number, height = height);
            goto Standing;
        }
        on eStay do {
            isUp = false;
            send controller, eStayed, number;
            goto Standing;
        }
    }
}
