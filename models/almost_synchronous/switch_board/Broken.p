// What can go wrong with devices that are stopped while they work.

// Debounces: notes a change at once and reports it with the next one, or after it was disarmed. A mutant.
machine BouncingSwitches {
    var driver: machine;
    var position: bool;
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
            send driver, eArmed, position;
            goto Armed;
        }
        on eFlip do (finger: machine) {
            position = !position;
            send finger, eFlipped;
        }
    }

    state Armed {
        on eFlip do (finger: machine) {
            position = !position;
            send finger, eFlipped;
            if ($) {
                isLate = true;
            } else {
                isLate = false;
                send driver, eSwitchChanged, position;
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
