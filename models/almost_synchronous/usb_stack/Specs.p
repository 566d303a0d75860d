// The driver gives no transfer to a device that it has suspended, and none after it said that the device is gone.
spec NoTransferAsleep observes eSubmitTransfer, eSuspendDevice, eResumeDevice, eStarted, eSurpriseDone, eRemoved {
    start state Off {
        on eStarted do (isWell: bool) {
            if (isWell) {
                goto On;
            }
        }
        on eResumeDevice goto On;
        on eSubmitTransfer do {
            assert false, "a transfer to a device without power";
        }
        ignore eSuspendDevice, eSurpriseDone, eRemoved;
    }

    state On {
        on eSuspendDevice, eSurpriseDone, eRemoved goto Off;
        on eStarted do (isWell: bool) {
            if (!isWell) {
                goto Off;
            }
        }
        ignore eSubmitTransfer, eResumeDevice;
    }
}

// Every read is answered once.
spec OneAnswer observes eRead, eReadDone {
    start state Quiet {
        on eRead goto Waiting;
        on eReadDone do {
            assert false, "an answer to no read";
        }
    }

    state Waiting {
        on eReadDone goto Quiet;
        on eRead do {
            assert false, "two reads at once";
        }
    }
}

// A device arrives before it goes, and is removed before it arrives again.
spec ComeAndGo observes eDeviceArrived, eDeviceGone, eDeviceRemoved {
    start state Nothing {
        on eDeviceArrived goto Something;
    }

    state Something {
        on eDeviceGone goto Going;
    }

    state Going {
        on eDeviceRemoved goto Nothing;
    }
}
