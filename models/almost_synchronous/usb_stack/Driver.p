// The function driver: two sets of states at once, since the plug-and-play manager and the power manager know nothing of
// each other, and reads in between. At most one read is under way. A read that came at a bad moment is kept until the
// device works again, and fails when the device is gone.
//
// A change of state with a transfer under way drains it first: it is cancelled, and its end is waited for. What either
// manager wants meanwhile is deferred; they wait for their answers, so there is not more than one of each.

// What comes after draining.
enum tAfter { SUSPEND, STOP, SURPRISE }

machine FunctionDriver {
    var controller: machine;
    var manager: machine;
    var power: machine;
    var application: machine;
    // A read that is not answered, whether the host controller has it, and whether its end was asked for.
    var hasRead: bool;
    var isSubmitted: bool;
    var isCancelling: bool;
    // The application does not want it any more.
    var isUnwanted: bool;
    // The device has power.
    var isOn: bool;
    // Power is wanted; and the power manager was asked for it and has not spoken since.
    var isAsking: bool;
    var isAsked: bool;
    // The power manager knows that there is nothing to do.
    var isIdleTold: bool;
    var after: tAfter;

    start state Begin {
        entry (given: machine) {
            controller = given;
        }
        on eMeet do (given: machine) {
            power = given;
            goto Absent;
        }
        defer eRead, eCancelRead, eSetPower, eStartDevice;
    }

    // There is no device, or it was removed.
    state Absent {
        entry {
            isOn = false;
            isAsking = false;
        }
        on eStartDevice do (from: machine) {
            manager = from;
            goto Starting;
        }
        on eRead do (from: machine) {
            send from, eReadDone, NO_DEVICE;
        }
        on eSetPower do {
            isIdleTold = false;
            isAsked = false;
            send power, ePowerDone;
        }
        on eCancelRead do (from: machine) {
            send from, eCancelSeen;
        }
        ignore eWoken;
    }

    state Starting {
        entry {
            send controller, eControl, (from = this, kind = CONFIGURE);
        }
        on eControlDone do (isDone: bool) {
            if (isDone) {
                isOn = true;
                send manager, eStarted, true;
                goto Working;
            }
            if (hasRead) {
                complete(NO_DEVICE);
            }
            send manager, eStarted, false;
            goto Absent;
        }
        ignore eWoken;
        defer eRead, eCancelRead, eSetPower;
    }

    state Working {
        entry {
            isAsking = false;
            if (hasRead) {
                submit();
            }
        }
        on eRead do (from: machine) {
            accept(from);
            submit();
        }
        on eTransferDone do (status: tStatus) {
            finishTransfer();
            complete(status);
            // Nothing more to do for now: let the power manager know, or not.
            if (!isIdleTold && $) {
                isIdleTold = true;
                send power, eIdle;
            }
        }
        on eCancelRead do (from: machine) {
            send from, eCancelSeen;
            if (hasRead) {
                isUnwanted = true;
                cancel();
            }
        }
        on eSetPower do (wanted: bool) {
            isIdleTold = false;
            isAsked = false;
            if (wanted) {
                send power, ePowerDone;
            } else {
                drain(SUSPEND);
            }
        }
        on eQueryStop do {
            drain(STOP);
        }
        on eQueryRemove do {
            if (hasRead) {
                send manager, eQueryAnswer, false;
            } else {
                send manager, eQueryAnswer, true;
                goto RemovePending;
            }
        }
        on eSurpriseRemove do {
            drain(SURPRISE);
        }
        ignore eWoken;
    }

    // The transfer is on its way back.
    state Draining {
        entry {
            cancel();
        }
        on eTransferDone do (status: tStatus) {
            finishTransfer();
            if (status != ABORTED || isUnwanted) {
                complete(status);
            }
            goOn();
        }
        on eCancelRead do (from: machine) {
            send from, eCancelSeen;
            isUnwanted = true;
        }
        ignore eWoken;
        defer eRead, eSetPower, eQueryStop, eQueryRemove, eSurpriseRemove;
    }

    state Suspending {
        entry {
            send controller, eSuspendDevice, this;
        }
        on eSuspendDone do {
            isOn = false;
            send power, ePowerDone;
            goto Suspended;
        }
        on eWoken do {
            isAsking = true;
        }
        defer eRead, eCancelRead, eQueryStop, eQueryRemove, eSurpriseRemove;
    }

    state Suspended {
        entry {
            if (isAsking || hasRead) {
                askForPower();
            }
        }
        on eSetPower do (wanted: bool) {
            isIdleTold = false;
            isAsked = false;
            if (wanted) {
                goto Resuming;
            }
            send power, ePowerDone;
            // What was asked before may have been overlooked.
            if (isAsking) {
                askForPower();
            }
        }
        on eRead do (from: machine) {
            accept(from);
            askForPower();
        }
        on eCancelRead do (from: machine) {
            send from, eCancelSeen;
            if (hasRead) {
                complete(ABORTED);
            }
        }
        on eWoken do {
            askForPower();
        }
        on eQueryStop do {
            send manager, eQueryAnswer, true;
            goto StopPending;
        }
        on eQueryRemove do {
            send manager, eQueryAnswer, true;
            goto RemovePending;
        }
        on eSurpriseRemove goto SurpriseRemoved;
    }

    state Resuming {
        entry {
            send controller, eResumeDevice, this;
        }
        on eResumeDone do {
            isOn = true;
            send power, ePowerDone;
            goto Working;
        }
        ignore eWoken;
        defer eRead, eCancelRead, eQueryStop, eQueryRemove, eSurpriseRemove;
    }

    // Ready to stop, or stopped; the manager starts the device again soon.
    state StopPending {
        on eStopDevice do {
            send manager, eStopped;
        }
        on eStartDevice do {
            goto Starting;
        }
        on eCancelStop do {
            send manager, eCancelDone;
            resumeWork();
        }
        on eRead do (from: machine) {
            accept(from);
        }
        on eCancelRead do (from: machine) {
            send from, eCancelSeen;
            if (hasRead) {
                complete(ABORTED);
            }
        }
        on eWoken do {
            isAsking = true;
        }
        defer eSetPower;
    }

    // Ready to be removed.
    state RemovePending {
        on eRemoveDevice do {
            if (hasRead) {
                complete(NO_DEVICE);
            }
            send manager, eRemoved;
            goto Absent;
        }
        on eCancelRemove do {
            send manager, eCancelDone;
            resumeWork();
        }
        on eRead do (from: machine) {
            accept(from);
        }
        on eCancelRead do (from: machine) {
            send from, eCancelSeen;
            if (hasRead) {
                complete(ABORTED);
            }
        }
        on eWoken do {
            isAsking = true;
        }
        defer eSetPower;
    }

    // The device is gone, the manager has not removed us yet.
    state SurpriseRemoved {
        entry {
            isOn = false;
            isAsking = false;
            if (hasRead) {
                complete(NO_DEVICE);
            }
            send manager, eSurpriseDone;
        }
        on eRemoveDevice do {
            send manager, eRemoved;
            goto Absent;
        }
        on eRead do (from: machine) {
            send from, eReadDone, NO_DEVICE;
        }
        on eSetPower do {
            isIdleTold = false;
            isAsked = false;
            send power, ePowerDone;
        }
        on eCancelRead do (from: machine) {
            send from, eCancelSeen;
        }
        ignore eWoken;
    }

    fun accept(from: machine) {
        assert !hasRead, "two reads at once";
        application = from;
        hasRead = true;
        send from, ePending;
    }

    fun submit() {
        assert isOn && !isSubmitted, "a transfer that cannot be";
        isSubmitted = true;
        send controller, eSubmitTransfer, this;
    }

    fun cancel() {
        if (isSubmitted && !isCancelling) {
            isCancelling = true;
            send controller, eCancelTransfer;
        }
    }

    fun finishTransfer() {
        assert isSubmitted, "the end of a transfer that was not begun";
        isSubmitted = false;
        isCancelling = false;
    }

    fun complete(status: tStatus) {
        assert hasRead && !isSubmitted, "an answer to no read";
        hasRead = false;
        isUnwanted = false;
        send application, eReadDone, status;
    }

    fun askForPower() {
        isAsking = true;
        if (!isAsked) {
            isAsked = true;
            send power, eNeedPower;
        }
    }

    fun drain(next: tAfter) {
        after = next;
        if (isSubmitted) {
            goto Draining;
        }
        goOn();
    }

    fun goOn() {
        if (after == SUSPEND) {
            goto Suspending;
        }
        if (after == STOP) {
            send manager, eQueryAnswer, true;
            goto StopPending;
        }
        goto SurpriseRemoved;
    }

    fun resumeWork() {
        if (isOn) {
            goto Working;
        }
        goto Suspended;
    }
}
