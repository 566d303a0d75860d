// The hub driver: looks what is at the port, waits until the connection is steady, resets it, gives the device an address
// and reads what it is, and tells the plug-and-play manager. It tries twice. A change at the port during enumeration is
// looked at afterwards; there is at most one, since the port reports no other before it was asked.

machine Hub {
    var port: machine;
    var controller: machine;
    var manager: machine;
    var log: machine;
    var timer: machine;
    var isSecondTry: bool;

    start state Begin {
        entry (given: (port: machine, controller: machine, manager: machine, log: machine)) {
            port = given.port;
            controller = given.controller;
            manager = given.manager;
            log = given.log;
            timer = new Timer(this);
            goto Empty;
        }
        defer eConnectChange;
    }

    state Empty {
        on eConnectChange goto Looking;
    }

    state Looking {
        entry {
            isSecondTry = false;
            send port, eGetStatus;
        }
        on ePortStatus do (isConnected: bool) {
            if (isConnected) {
                goto Debouncing;
            }
            goto Empty;
        }
        on eConnectChange do {
            assert false, "a change that was reported already";
        }
    }

    state Debouncing {
        entry {
            send timer, eStartTimer;
        }
        on eTimeOut goto Resetting;
        on eConnectChange do {
            send timer, eCancelTimer;
            goto StoppingTimer;
        }
    }

    // The timer stops, or has fired in the meantime.
    state StoppingTimer {
        on eTimeOut, eTimerStopped goto Looking;
    }

    state Resetting {
        entry {
            send port, eResetPort;
        }
        on eResetDone do (isConnected: bool) {
            if (isConnected) {
                goto Addressing;
            }
            goto Broken;
        }
        defer eConnectChange;
    }

    state Addressing {
        entry {
            send controller, eControl, (from = this, kind = ADDRESS);
        }
        on eControlDone do (isDone: bool) {
            if (isDone) {
                goto Describing;
            }
            tryAgain();
        }
        defer eConnectChange;
    }

    state Describing {
        entry {
            send controller, eControl, (from = this, kind = DESCRIBE);
        }
        on eControlDone do (isDone: bool) {
            if (isDone) {
                send log, eLog, ARRIVED;
                send manager, eDeviceArrived, this;
                goto Enumerated;
            }
            tryAgain();
        }
        defer eConnectChange;
    }

    state Enumerated {
        entry {
            isSecondTry = false;
        }
        on eConnectChange goto Leaving;
    }

    // Unplugged, perhaps plugged in again: in any case it is another device now.
    state Leaving {
        entry {
            send manager, eDeviceGone;
        }
        on eDeviceRemoved do {
            send log, eLog, REMOVED;
            goto Looking;
        }
    }

    // Nothing works with this device; the next may be better.
    state Broken {
        entry {
            isSecondTry = false;
            send log, eLog, BROKEN;
        }
        on eConnectChange goto Looking;
    }

    fun tryAgain() {
        if (isSecondTry) {
            goto Broken;
        }
        isSecondTry = true;
        goto Resetting;
    }
}

// Fires at any time after it was started, or waits until it is cancelled, if need be for ever. A cancellation that comes
// too late has no answer.
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

// Writes what happens to a disk, and lets nobody wait for it.
machine Log {
    var disk: machine;

    start state Writing {
        entry {
            disk = new Disk();
        }
        on eLog do (what: tLogEntry) {
            send disk, eStore, what;
        }
    }
}

machine Disk {
    start state Spinning {
        ignore eStore;
    }
}
