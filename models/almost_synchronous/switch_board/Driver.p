// The driver of a small test board on a serial bus: a row of switches that reports every change by itself, a light that
// shows the switches, and a system that powers the board up and down, asks for self-tests, and waits for each answer.
//
// Switches change for ever; one change is reported at a time, and while the light is busy only the latest is kept. Requests
// of the system wait (they are deferred) until the light has come to rest. The driver leaves a trace of what it does,
// which nobody acknowledges, so that inboxes have no bound.

// The system's requests, and their answers.
event eD0Entry: machine;
event eD0Exit;
event eSelfTest;
event ePowerDone: bool;
event eSelfTested: bool;

// The switches.
event eArm;
event eArmed: bool;
event eDisarm;
event eDisarmed;
event eSwitchChanged: bool;
event eRearm: bool;
event eFlip: machine;
event eFlipped;

// The light: one transfer at a time.
event eSetLight: bool;
event eLightDone;
event eLightStalled;
event eAbortLight;
event eLightAborted;

// The timer of transfers.
event eStartTimer;
event eCancelTimer;
event eTimeOut;
event eTimerStopped;

// Why the light is being set.
enum tPurpose { SHOW, TEST, DARKEN }

// The trace.
event eTrace: tPurpose;
event eWrite: tPurpose;

machine Driver {
    var system: machine;
    var switches: machine;
    var light: machine;
    var timer: machine;
    var tracer: machine;
    // What the switches say, as far as we know, and what the light shows.
    var latest: bool;
    var shown: bool;
    var purpose: tPurpose;
    // The value of the transfer under way.
    var asked: bool;
    // The transfer failed and was tried again already.
    var isRetry: bool;
    var hasFailed: bool;

    start state Begin {
        entry (given: machine) {
            tracer = given;
            switches = new Switches(this);
            new Finger(switches);
            light = new Light(this);
            timer = new Timer(this);
            goto Unpowered;
        }
        defer eD0Entry;
    }

    state Unpowered {
        on eD0Entry do (who: machine) {
            system = who;
            goto Arming;
        }
    }

    state Arming {
        entry {
            send switches, eArm;
        }
        on eArmed do (now: bool) {
            latest = now;
            send system, ePowerDone, true;
            goto Deciding;
        }
        on eSwitchChanged do (now: bool) {
            assert false, "a change before the switches are armed";
        }
    }

    // Something may have changed while the light was busy.
    state Deciding {
        entry {
            if (latest != shown) {
                transfer(SHOW);
            }
            goto Resting;
        }
    }

    state Resting {
        entry {
            assert latest == shown, "the light shows something else";
        }
        on eSwitchChanged do (now: bool) {
            note(now);
            goto Deciding;
        }
        on eSelfTest do {
            transfer(TEST);
        }
        on eD0Exit goto Disarming;
    }

    // A transfer is under way, and the timer runs.
    state Transferring {
        entry {
            send light, eSetLight, wanted();
            send timer, eStartTimer;
        }
        on eLightDone do {
            hasFailed = false;
            send timer, eCancelTimer;
            goto StoppingTimer;
        }
        on eLightStalled do {
            hasFailed = true;
            send timer, eCancelTimer;
            goto StoppingTimer;
        }
        on eTimeOut do {
            send light, eAbortLight;
            goto Aborting;
        }
        on eSwitchChanged do (now: bool) {
            note(now);
        }
        defer eD0Exit, eSelfTest;
    }

    // The timer stops, or has fired in the meantime.
    state StoppingTimer {
        on eTimerStopped, eTimeOut do {
            if (!hasFailed) {
                goto Succeeded;
            }
            goto Failed;
        }
        on eSwitchChanged do (now: bool) {
            note(now);
        }
        defer eD0Exit, eSelfTest;
    }

    // The transfer is aborted, or has ended in the meantime.
    state Aborting {
        on eLightAborted, eLightStalled goto Failed;
        on eLightDone goto Succeeded;
        on eSwitchChanged do (now: bool) {
            note(now);
        }
        defer eD0Exit, eSelfTest;
    }

    state Succeeded {
        entry {
            isRetry = false;
            hasFailed = false;
            shown = asked;
            if (purpose == TEST) {
                send system, eSelfTested, true;
                goto Deciding;
            }
            if (purpose == DARKEN) {
                send system, ePowerDone, true;
                goto Unpowered;
            }
            goto Deciding;
        }
    }

    // A failed transfer is tried once more, then the light is taken to be what it was asked to be.
    state Failed {
        entry {
            hasFailed = false;
            if (!isRetry) {
                isRetry = true;
                goto Transferring;
            }
            isRetry = false;
            shown = asked;
            if (purpose == TEST) {
                send system, eSelfTested, false;
                goto Deciding;
            }
            if (purpose == DARKEN) {
                send system, ePowerDone, false;
                goto Unpowered;
            }
            goto Deciding;
        }
    }

    // What still comes from the switches on power-down is of no interest.
    state Disarming {
        entry {
            send switches, eDisarm;
        }
        on eDisarmed do {
            transfer(DARKEN);
        }
        ignore eSwitchChanged;
    }

    fun note(now: bool) {
        latest = now;
        send switches, eRearm, now;
    }

    fun transfer(why: tPurpose) {
        purpose = why;
        send tracer, eTrace, why;
        goto Transferring;
    }

    // A retry sends what it is now.
    fun wanted(): bool {
        if (purpose == SHOW) {
            asked = latest;
        } else if (purpose == TEST) {
            asked = true;
        } else {
            asked = false;
        }
        return asked;
    }
}

// Reports changes for as long as it is armed, the next when the driver has acknowledged the last.
machine Switches {
    var driver: machine;
    var position: bool;
    // A change was reported and not acknowledged yet.
    var isReported: bool;

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
            report();
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

// Moves the switches for ever.
machine Finger {
    var switches: machine;

    start state Begin {
        entry (given: machine) {
            switches = given;
            goto Flipping;
        }
    }

    state Flipping {
        entry {
            send switches, eFlip, this;
        }
        on eFlipped goto Flipping;
    }
}

// Ends a transfer well or badly, or lets it hang until it is aborted. An abort that comes after the end has no answer.
machine Light {
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
        ignore eAbortLight;
    }

    state Hanging {
        on eAbortLight do {
            send driver, eLightAborted;
            goto Ready;
        }
    }
}

// Fires at any time after it was started, or waits until it is cancelled, if need be for ever.
machine Timer {
    var owner: machine;

    start state Begin {
        entry (given: machine) {
            owner = given;
            goto Off;
        }
    }

    state Off {
        on eStartTimer goto On;
        ignore eCancelTimer;
    }

    state On {
        entry {
            if ($) {
                send owner, eTimeOut;
                goto Off;
            }
        }
        on eCancelTimer do {
            send owner, eTimerStopped;
            goto Off;
        }
    }
}

// Writes what it is told to a file, and lets nobody wait for it.
machine Tracer {
    var file: machine;

    start state Tracing {
        entry (given: machine) {
            file = given;
        }
        on eTrace do (what: tPurpose) {
            send file, eWrite, what;
        }
    }
}

machine File {
    start state Open {
        ignore eWrite;
    }
}

// Powers the board up and down for ever, with self-tests in between.
machine System {
    var driver: machine;

    start state Begin {
        entry (given: machine) {
            driver = given;
            goto PoweringUp;
        }
    }

    state PoweringUp {
        entry {
            send driver, eD0Entry, this;
        }
        on ePowerDone do (isWell: bool) {
            assert isWell, "powering up fails";
            goto Working;
        }
    }

    state Working {
        entry {
            if ($) {
                goto Testing;
            }
            goto PoweringDown;
        }
    }

    state Testing {
        entry {
            send driver, eSelfTest;
        }
        on eSelfTested goto Working;
    }

    state PoweringDown {
        entry {
            send driver, eD0Exit;
        }
        on ePowerDone goto PoweringUp;
    }
}

machine Bench {
    start state Begin {
        entry {
            new System(new Driver(new Tracer(new File())));
        }
    }
}
