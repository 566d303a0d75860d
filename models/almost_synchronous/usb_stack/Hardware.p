// What one can touch: a hand, the port, the device, and the host controller.

// Plugs and unplugs for ever.
machine Hand {
    var port: machine;

    start state Begin {
        entry (given: machine) {
            port = given;
            goto Plugging;
        }
    }

    state Plugging {
        entry {
            send port, ePlug, this;
        }
        on eHandDone goto Unplugging;
    }

    state Unplugging {
        entry {
            send port, eUnplug, this;
        }
        on eHandDone goto Plugging;
    }
}

machine Port {
    var device: machine;
    var hub: machine;
    var isConnected: bool;
    var changer: machine;
    // The hub was told of a change and has not asked since.
    var isReported: bool;

    start state Begin {
        entry (given: machine) {
            device = given;
        }
        on eMeet do (given: machine) {
            hub = given;
            goto Ready;
        }
        defer ePlug, eUnplug, eGetStatus, eResetPort;
    }

    state Ready {
        on ePlug do (hand: machine) {
            change(true, hand);
        }
        on eUnplug do (hand: machine) {
            change(false, hand);
        }
        on eGetStatus do {
            isReported = false;
            send hub, ePortStatus, isConnected;
        }
        on eResetPort do {
            if (isConnected) {
                send device, eBusReset;
            }
            send hub, eResetDone, isConnected;
        }
    }

    // A plug takes a moment.
    state Changing {
        on eBusPowered do {
            if (!isReported) {
                isReported = true;
                send hub, eConnectChange;
            }
            send changer, eHandDone;
            goto Ready;
        }
        defer eGetStatus, eResetPort;
    }

    fun change(connected: bool, hand: machine) {
        assert connected != isConnected, "plugged or unplugged twice";
        isConnected = connected;
        changer = hand;
        send device, eBusPower, (port = this, isOn = connected);
        goto Changing;
    }
}

// Every token has one reply. A device that is not there "replies" too: the host controller would notice that nothing comes.
machine Device {
    var controller: machine;

    start state Begin {
        on eMeet do (given: machine) {
            controller = given;
            goto Detached;
        }
        defer eBusPower, eBusReset, eControlToken, eBulkToken, eSuspendToken, eResumeToken;
    }

    state Detached {
        on eBusPower do (change: tBusPower) {
            send change.port, eBusPowered;
            if (change.isOn) {
                goto Unconfigured;
            }
        }
        on eControlToken do {
            send controller, eControlReply, false;
        }
        on eBulkToken do {
            send controller, eBulkReply, NO_DEVICE;
        }
        on eSuspendToken do {
            send controller, eSuspendReply;
        }
        on eResumeToken do {
            send controller, eResumeReply;
        }
        ignore eBusReset, eAbortBulk;
    }

    state Unconfigured {
        on eBusPower do (change: tBusPower) {
            assert !change.isOn, "powered twice";
            send change.port, eBusPowered;
            goto Detached;
        }
        on eControlToken do (kind: tControl) {
            if ($) {
                send controller, eControlReply, false;
            } else {
                send controller, eControlReply, true;
                if (kind == CONFIGURE) {
                    goto Configured;
                }
            }
        }
        // Plugged in again behind the driver's back.
        on eBulkToken do {
            send controller, eBulkReply, STALLED;
        }
        on eSuspendToken do {
            send controller, eSuspendReply;
        }
        on eResumeToken do {
            send controller, eResumeReply;
        }
        ignore eBusReset, eAbortBulk;
    }

    state Configured {
        on eBusPower do (change: tBusPower) {
            assert !change.isOn, "powered twice";
            send change.port, eBusPowered;
            goto Detached;
        }
        on eBusReset goto Unconfigured;
        on eControlToken do {
            send controller, eControlReply, true;
        }
        on eBulkToken do {
            if ($) {
                send controller, eBulkReply, DONE;
            } else if ($) {
                send controller, eBulkReply, STALLED;
            } else {
                goto Transferring;
            }
        }
        on eSuspendToken do {
            send controller, eSuspendReply;
            goto Asleep;
        }
        on eResumeToken do {
            send controller, eResumeReply;
        }
        ignore eAbortBulk;
    }

    // There is no data yet.
    state Transferring {
        on eAbortBulk do {
            send controller, eBulkReply, ABORTED;
            goto Configured;
        }
        on eBusPower do (change: tBusPower) {
            assert !change.isOn, "powered twice";
            send change.port, eBusPowered;
            send controller, eBulkReply, NO_DEVICE;
            goto Detached;
        }
        on eBusReset do {
            send controller, eBulkReply, NO_DEVICE;
            goto Unconfigured;
        }
    }

    state Asleep {
        entry {
            if ($) {
                send controller, eWakeSignal;
            }
        }
        on eBusPower do (change: tBusPower) {
            assert !change.isOn, "powered twice";
            send change.port, eBusPowered;
            goto Detached;
        }
        on eBusReset goto Unconfigured;
        on eControlToken do {
            send controller, eControlReply, true;
            goto Configured;
        }
        on eBulkToken do {
            assert false, "a transfer to a device that sleeps";
        }
        on eResumeToken do {
            send controller, eResumeReply;
            goto Configured;
        }
        ignore eAbortBulk;
    }
}

// Brings tokens to the device, one at a time, and replies back to who asked. A cancellation that comes after the end of its
// transfer has no answer.
machine HostController {
    var device: machine;
    var requester: machine;
    // Who wants to hear of wake signals.
    var driver: machine;

    start state Begin {
        entry (given: machine) {
            device = given;
            goto Ready;
        }
    }

    state Ready {
        on eControl do (control: (from: machine, kind: tControl)) {
            requester = control.from;
            if (control.kind == CONFIGURE) {
                driver = control.from;
            }
            send device, eControlToken, control.kind;
            goto InControl;
        }
        on eSubmitTransfer do (from: machine) {
            requester = from;
            send device, eBulkToken;
            goto InTransfer;
        }
        on eSuspendDevice do (from: machine) {
            requester = from;
            send device, eSuspendToken;
            goto InPowerChange;
        }
        on eResumeDevice do (from: machine) {
            requester = from;
            send device, eResumeToken;
            goto InPowerChange;
        }
        on eWakeSignal do {
            send driver, eWoken;
        }
        ignore eCancelTransfer;
    }

    state InControl {
        on eControlReply do (isDone: bool) {
            send requester, eControlDone, isDone;
            goto Ready;
        }
        on eWakeSignal do {
            send driver, eWoken;
        }
        ignore eCancelTransfer;
        defer eControl, eSubmitTransfer, eSuspendDevice, eResumeDevice;
    }

    state InTransfer {
        on eBulkReply do (status: tStatus) {
            send requester, eTransferDone, status;
            goto Ready;
        }
        on eCancelTransfer do {
            send device, eAbortBulk;
            goto InCancellation;
        }
        on eWakeSignal do {
            send driver, eWoken;
        }
        defer eControl;
    }

    // Aborted, or ended in the meantime.
    state InCancellation {
        on eBulkReply do (status: tStatus) {
            send requester, eTransferDone, status;
            goto Ready;
        }
        on eWakeSignal do {
            send driver, eWoken;
        }
        defer eControl;
    }

    state InPowerChange {
        on eSuspendReply do {
            send requester, eSuspendDone;
            goto Ready;
        }
        on eResumeReply do {
            send requester, eResumeDone;
            goto Ready;
        }
        on eWakeSignal do {
            send driver, eWoken;
        }
        ignore eCancelTransfer;
        defer eControl;
    }
}
