// What can go wrong with devices that are stopped while they work.

// Debounces: notes a change at once and reports it with the next one, or after it was disarmed. A mutant.
machine BouncingSwitches {
    var driver: machine;
    var position: bool;
    // A change was reported and not acknowledged yet.
    var isReported: bool;
    var isLate: bool;

    start state Begin {
        entry (given: machine) {
            driver = given;
            goto Disarmed;
        }
        defer eFlip, eArm;
    }

    state Disarmed {
        on eArm do {
            isReported = false;
            send driver, eArmed, position;
            goto Armed;
        }
        on eFlip do (finger: machine) {
            position = !position;
            send finger, eFlipped;
        }
        ignore eRearm;
    }

    state Armed {
        on eFlip do (finger: machine) {
            position = !position;
            if ($) {
                isLate = true;
            } else {
                isLate = false;
                report();
            }
            send finger, eFlipped;
        }
        on eRearm do (known: bool) {
            isReported = false;
            if (known != position) {
                report();
            }
        }
        on eDisarm do {
            send driver, eDisarmed;
            if (isLate) {
                isLate = false;
                send driver, eSwitchChanged, position;
            }
            goto Disarmed;
        }
    }

    fun report() {
        if (!isReported) {
            isReported = true;
            send driver, eSwitchChanged, position;
        }
    }
}

// Answers an abort even when the transfer has ended before. A mutant.
machine ChattyLight {
    var driver: machine;
    var isOn: bool;

    start state Begin {
        entry (given: machine) {
            driver = given;
            goto Ready;
        }
    }

    state Ready {
        on eSetLight do (wanted: bool) {
            if ($) {
                isOn = wanted;
                send driver, eLightDone;
            } else if ($) {
                send driver, eLightStalled;
            } else {
                goto Hanging;
            }
        }
        on eAbortLight do {
            send driver, eLightAborted;
        }
    }

    state Hanging {
        on eAbortLight do {
            send driver, eLightAborted;
            goto Ready;
        }
    }
}
