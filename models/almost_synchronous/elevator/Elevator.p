// An elevator: a controller, a motor, a door and a timer that keeps the door open for a while. Passengers press buttons
// for ever and wait for nothing, so the controller's inbox has no bound. A button that has no meaning in a state is
// ignored there; a call is remembered until the cabin gets to that floor.
//
// The door and the timer can be stopped half-way. Such a stop may come too late, and who asked for it must then live with
// the answer that is on its way already: there is exactly one answer to each order, either way.

param nFloors: int;

// Buttons.
event eCall: int;
event eOpenButton;
event eCloseButton;

// Orders of the controller, and what comes back.
event eMove: bool;
event eArrived;
event eOpenDoor;
event eCloseDoor;
event eStopDoor;
event eDoorOpened;
event eDoorClosed;
event eDoorBlocked;
event eDoorStopped;
event eStartTimer;
event eCancelTimer;
event eTimeOut;
event eTimerStopped;

machine Elevator {
    var door: machine;
    var motor: machine;
    var timer: machine;
    var floor: int;
    var goal: int;
    // Calls from floors where the cabin is not.
    var calls: set[int];
    // Whether the door stays open once the timer has stopped.
    var isReopening: bool;

    start state Begin {
        entry {
            door = new Door(this);
            motor = new Motor(this);
            timer = new Timer(this);
            goto Resting;
        }
        defer eCall, eOpenButton, eCloseButton;
    }

    // At a floor, behind a closed door, and nobody calls.
    state Resting {
        on eCall do (at: int) {
            if (at == floor) {
                goto Opening;
            }
            goal = at;
            goto Moving;
        }
        on eOpenButton goto Opening;
        ignore eCloseButton;
    }

    state Moving {
        entry {
            send motor, eMove, goal > floor;
        }
        on eArrived do {
            if (goal > floor) {
                floor = floor + 1;
            } else {
                floor = floor - 1;
            }
            assert floor >= 0 && floor < nFloors, "through the roof or into the ground";
            if (floor == goal || floor in calls) {
                calls -= (floor);
                if (floor != goal) {
                    calls += (goal);
                }
                goal = floor;
                goto Opening;
            }
            goto Moving;
        }
        on eCall do (at: int) {
            remember(at);
        }
        ignore eOpenButton, eCloseButton;
    }

    state Opening {
        entry {
            send door, eOpenDoor;
        }
        on eDoorOpened goto Open;
        on eCall do (at: int) {
            remember(at);
        }
        ignore eOpenButton, eCloseButton;
    }

    state Open {
        entry {
            isReopening = false;
            send timer, eStartTimer;
        }
        on eTimeOut goto Closing;
        on eCloseButton do {
            send timer, eCancelTimer;
            goto StoppingTimer;
        }
        on eOpenButton do {
            isReopening = true;
            send timer, eCancelTimer;
            goto StoppingTimer;
        }
        on eCall do (at: int) {
            remember(at);
        }
    }

    // The timer either stops or has fired in the meantime.
    state StoppingTimer {
        on eTimeOut, eTimerStopped do {
            if (isReopening) {
                goto Open;
            }
            goto Closing;
        }
        on eCall do (at: int) {
            remember(at);
        }
        ignore eOpenButton, eCloseButton;
    }

    state Closing {
        entry {
            send door, eCloseDoor;
        }
        on eDoorClosed do {
            leave();
        }
        on eDoorBlocked goto Opening;
        on eOpenButton do {
            send door, eStopDoor;
            goto StoppingDoor;
        }
        on eCall do (at: int) {
            remember(at);
        }
        ignore eCloseButton;
    }

    // The door either stops or has closed, or met somebody, in the meantime.
    state StoppingDoor {
        on eDoorClosed, eDoorBlocked, eDoorStopped goto Opening;
        on eCall do (at: int) {
            remember(at);
        }
        ignore eOpenButton, eCloseButton;
    }

    fun remember(at: int) {
        if (at != floor && at != goal) {
            calls += (at);
        }
    }

    fun leave() {
        if (sizeof(calls) == 0) {
            goto Resting;
        }
        goal = choose(calls);
        calls -= (goal);
        goto Moving;
    }
}

// Brings the cabin to the next floor, up or down.
machine Motor {
    var controller: machine;

    start state Still {
        entry (given: machine) {
            controller = given;
        }
        on eMove do (isUp: bool) {
            send controller, eArrived;
        }
    }
}

// Closing may take any time: the door reports its end only when nobody stopped it before.
machine Door {
    var controller: machine;

    start state Begin {
        entry (given: machine) {
            controller = given;
            goto Shut;
        }
    }

    state Shut {
        on eOpenDoor goto Widening;
        ignore eStopDoor;
    }

    state Widening {
        entry {
            send controller, eDoorOpened;
            goto Wide;
        }
    }

    state Wide {
        on eOpenDoor goto Widening;
        on eCloseDoor goto Narrowing;
        ignore eStopDoor;
    }

    state Narrowing {
        entry {
            if ($) {
                send controller, eDoorClosed;
                goto Shut;
            }
            if ($) {
                send controller, eDoorBlocked;
                goto Wide;
            }
        }
        on eStopDoor do {
            send controller, eDoorStopped;
            goto Wide;
        }
    }
}

// Fires at any time after it was started, or waits until it is cancelled. A cancellation that comes after it has fired
// gets no answer.
machine Timer {
    var owner: machine;

    start state Off {
        entry (given: machine) {
            if (owner == null) {
                owner = given;
            }
        }
        on eStartTimer goto On;
        ignore eCancelTimer;
    }

    state On {
        entry {
            if ($) {
                send owner, eTimeOut;
                goto Off, owner;
            }
        }
        on eCancelTimer do {
            send owner, eTimerStopped;
            goto Off, owner;
        }
    }
}

// Presses buttons for ever, any button at any time.
machine Passengers {
    var elevator: machine;

    start state Begin {
        entry (given: machine) {
            elevator = given;
            goto Pressing;
        }
    }

    state Pressing {
        entry {
            if ($) {
                send elevator, eCall, choose(nFloors);
            } else if ($) {
                send elevator, eOpenButton;
            } else {
                send elevator, eCloseButton;
            }
            goto Pressing;
        }
    }
}

machine Building {
    start state Begin {
        entry {
            new Passengers(new Elevator());
        }
    }
}
