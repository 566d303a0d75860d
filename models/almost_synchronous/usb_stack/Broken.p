// What can go wrong in a stack in which everything can end at any time.

// Answers a cancellation also when the transfer has ended before. A mutant.
machine ChattyController {
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
        on eCancelTransfer do {
            send requester, eTransferDone, ABORTED;
        }
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

// Does not expect the device to go while it is being stopped. A mutant.
machine HastyManager {
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
