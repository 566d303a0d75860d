// The system above the stack, and the people who use it.

machine PnpManager {
    var driver: machine;
    var log: machine;
    var hub: machine;
    var admin: machine;

    start state Begin {
        entry (given: (driver: machine, log: machine)) {
            driver = given.driver;
            log = given.log;
            goto NoDevice;
        }
    }

    state NoDevice {
        on eDeviceArrived do (from: machine) {
            hub = from;
            goto Starting;
        }
        on eEject, eRebalance do (from: machine) {
            send from, eAdminDone;
        }
    }

    state Starting {
        entry {
            send driver, eStartDevice, this;
        }
        on eStarted do (isWell: bool) {
            if (isWell) {
                goto Running;
            }
            send log, eLog, FAILED;
            goto WithoutDriver;
        }
        defer eDeviceGone, eEject, eRebalance;
    }

    state Running {
        on eEject do (from: machine) {
            admin = from;
            goto QueryingRemove;
        }
        on eRebalance do (from: machine) {
            admin = from;
            goto QueryingStop;
        }
        on eDeviceGone goto Surprised;
    }

    state QueryingRemove {
        entry {
            send driver, eQueryRemove;
        }
        on eQueryAnswer do (isAgreed: bool) {
            if (!isAgreed) {
                send admin, eAdminDone;
                goto Running;
            }
            // Somebody else may object.
            if ($) {
                goto Removing;
            }
            send driver, eCancelRemove;
            goto Cancelling;
        }
        defer eDeviceGone;
    }

    state Cancelling {
        on eCancelDone do {
            send admin, eAdminDone;
            goto Running;
        }
        defer eDeviceGone;
    }

    state Removing {
        entry {
            send driver, eRemoveDevice;
        }
        on eRemoved do {
            send log, eLog, EJECTED;
            send admin, eAdminDone;
            goto WithoutDriver;
        }
        defer eDeviceGone;
    }

    // The device is there and not in use.
    state WithoutDriver {
        on eDeviceGone do {
            send hub, eDeviceRemoved;
            goto NoDevice;
        }
        on eEject, eRebalance do (from: machine) {
            send from, eAdminDone;
        }
    }

    state QueryingStop {
        entry {
            send driver, eQueryStop;
        }
        on eQueryAnswer do (isAgreed: bool) {
            if (!isAgreed) {
                send admin, eAdminDone;
                goto Running;
            }
            if ($) {
                goto Stopping;
            }
            send driver, eCancelStop;
            goto Cancelling;
        }
        defer eDeviceGone;
    }

    state Stopping {
        entry {
            send driver, eStopDevice;
        }
        on eStopped goto Restarting;
        defer eDeviceGone;
    }

    state Restarting {
        entry {
            send driver, eStartDevice, this;
        }
        on eStarted do (isWell: bool) {
            send admin, eAdminDone;
            if (isWell) {
                send log, eLog, RESTARTED;
                goto Running;
            }
            send log, eLog, FAILED;
            goto WithoutDriver;
        }
        defer eDeviceGone;
    }

    state Surprised {
        entry {
            send driver, eSurpriseRemove;
        }
        on eSurpriseDone do {
            send driver, eRemoveDevice;
        }
        on eRemoved do {
            send hub, eDeviceRemoved;
            goto NoDevice;
        }
        defer eEject, eRebalance;
    }
}

machine PowerManager {
    var driver: machine;
    var lid: machine;
    // Whether the lid waits for an answer.
    var isLidWaiting: bool;

    start state Begin {
        entry (given: machine) {
            driver = given;
            goto On;
        }
        defer eLid, eIdle, eNeedPower;
    }

    state On {
        on eLid do (change: (from: machine, isClosed: bool)) {
            if (change.isClosed) {
                lid = change.from;
                isLidWaiting = true;
                goto GoingDown;
            }
            send change.from, eLidDone;
        }
        on eIdle goto GoingDown;
        ignore eNeedPower;
    }

    state GoingDown {
        entry {
            send driver, eSetPower, false;
        }
        on ePowerDone do {
            if (isLidWaiting) {
                isLidWaiting = false;
                send lid, eLidDone;
                goto Sleeping;
            }
            goto Resting;
        }
        ignore eIdle, eNeedPower;
        defer eLid;
    }

    // The lid is closed.
    state Sleeping {
        on eLid do (change: (from: machine, isClosed: bool)) {
            assert !change.isClosed, "closed twice";
            lid = change.from;
            isLidWaiting = true;
            goto GoingUp;
        }
        ignore eIdle, eNeedPower;
    }

    // The lid is open and the device has nothing to do.
    state Resting {
        on eNeedPower goto GoingUp;
        on eLid do (change: (from: machine, isClosed: bool)) {
            lid = change.from;
            isLidWaiting = true;
            if (change.isClosed) {
                goto GoingDown;
            }
            goto GoingUp;
        }
        ignore eIdle;
    }

    state GoingUp {
        entry {
            send driver, eSetPower, true;
        }
        on ePowerDone do {
            if (isLidWaiting) {
                isLidWaiting = false;
                send lid, eLidDone;
            }
            goto On;
        }
        ignore eIdle, eNeedPower;
        defer eLid;
    }
}

// Closes and opens the lid for ever.
machine Lid {
    var power: machine;
    var isClosed: bool;

    start state Begin {
        entry (given: machine) {
            power = given;
            goto Moving;
        }
    }

    state Moving {
        entry {
            isClosed = !isClosed;
            send power, eLid, (from = this, isClosed = isClosed);
        }
        on eLidDone goto Moving;
    }
}

// Ejects and rebalances for ever.
machine Admin {
    var manager: machine;

    start state Begin {
        entry (given: machine) {
            manager = given;
            goto Working;
        }
    }

    state Working {
        entry {
            if ($) {
                send manager, eEject, this;
            } else {
                send manager, eRebalance, this;
            }
        }
        on eAdminDone goto Working;
    }
}

// Reads for ever, and sometimes does not want to wait. Then there are two answers, in either order.
machine Application {
    var driver: machine;

    start state Begin {
        entry (given: machine) {
            driver = given;
            goto Reading;
        }
    }

    state Reading {
        entry {
            send driver, eRead, this;
        }
        on ePending do {
            if ($) {
                send driver, eCancelRead, this;
                goto Cancelling;
            }
        }
        on eReadDone goto Reading;
    }

    state Cancelling {
        on eReadDone goto Done;
        on eCancelSeen goto Cancelled;
    }

    state Done {
        on eCancelSeen goto Reading;
    }

    state Cancelled {
        on eReadDone goto Reading;
    }
}
