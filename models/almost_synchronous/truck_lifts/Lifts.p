// Lifts that carry a truck together: nLifts lifts under one controller, which raises and lowers those in use in step, takes
// more into use, and releases them. Workers press buttons for ever and wait for nothing, so the controller's
// inbox has no bound; what comes while it is busy has no effect, except for the stop button.
//
// A step of all lifts has two phases. First every lift is asked whether it can move, and refuses when it stands at the end
// of its rails or something is in the way. Only when all are ready do they move; otherwise those that are ready are
// told to stay.

param nLifts: int;
param maxHeight: int;

// Buttons.
event eUpButton;
event eDownButton;
event eStopButton;
event eAddButton: int;
event eReleaseButton: int;

// To a lift, and back with its number.
event eJoin: int;
event eJoined: int;
event eLeave;
event eLeft: int;
event ePrepare: bool;
event eReady: int;
event eRefused: int;
event eGo;
event eMoved: (number: int, height: int);
event eStay;
event eStayed: int;

// What the monitor hears of each lift: that it carries at a height, or no more.
event eCarries: (number: int, height: int);
event eReleased: int;

machine Controller {
    var lifts: seq[machine];
    // In use, all at this height.
    var inUse: set[int];
    var height: int;
    // Of the step under way: its direction, who has not answered yet, who is ready, and whether it is off.
    var isUp: bool;
    var missing: set[int];
    var ready: set[int];
    var isOff: bool;

    start state Begin {
        entry {
            var i: int;
            while (i < nLifts) {
                lifts += (i, new Lift((controller = this, number = i)));
                i = i + 1;
            }
            goto Resting;
        }
        defer eUpButton, eDownButton, eStopButton, eAddButton, eReleaseButton;
    }

    state Resting {
        on eUpButton do {
            begin(true);
        }
        on eDownButton do {
            begin(false);
        }
        on eAddButton do (number: int) {
            if (!(number in inUse)) {
                send lifts[number], eJoin, height;
                goto Adding;
            }
        }
        on eReleaseButton do (number: int) {
            if (number in inUse) {
                inUse -= (number);
                send lifts[number], eLeave;
                goto Releasing;
            }
        }
        ignore eStopButton;
    }

    state Adding {
        on eJoined do (number: int) {
            assert !(number in inUse), "a lift joined twice";
            inUse += (number);
            goto Resting;
        }
        ignore eUpButton, eDownButton, eStopButton, eAddButton, eReleaseButton;
    }

    state Releasing {
        on eLeft do (number: int) {
            if (sizeof(inUse) == 0) {
                height = 0;
            }
            goto Resting;
        }
        ignore eUpButton, eDownButton, eStopButton, eAddButton, eReleaseButton;
    }

    state Preparing {
        entry {
            var number: int;
            missing = inUse;
            ready = default(set[int]);
            isOff = false;
            foreach (number in inUse) {
                send lifts[number], ePrepare, isUp;
            }
        }
        on eReady do (number: int) {
            ready += (number);
            answered(number);
        }
        on eRefused do (number: int) {
            isOff = true;
            answered(number);
        }
        on eStopButton do {
            isOff = true;
        }
        ignore eUpButton, eDownButton, eAddButton, eReleaseButton;
    }

    state Moving {
        entry {
            var number: int;
            missing = inUse;
            ready = default(set[int]);
            if (isUp) {
                height = height + 1;
            } else {
                height = height - 1;
            }
            foreach (number in inUse) {
                send lifts[number], eGo;
            }
        }
        on eMoved do (moved: (number: int, height: int)) {
            assert moved.number in missing, "a lift moved twice";
            assert moved.height == height, format("lift {0} is at {1}", moved.number, moved.height);
            missing -= (moved.number);
            if (sizeof(missing) == 0) {
                goto Resting;
            }
        }
        ignore eUpButton, eDownButton, eStopButton, eAddButton, eReleaseButton;
    }

    // Those that were ready are told to stay, and the step is over when they know.
    state Staying {
        entry {
            var number: int;
            missing = ready;
            if (sizeof(ready) == 0) {
                goto Resting;
            }
            ready = default(set[int]);
            foreach (number in missing) {
                send lifts[number], eStay;
            }
        }
        on eStayed do (number: int) {
            missing -= (number);
            if (sizeof(missing) == 0) {
                goto Resting;
            }
        }
        ignore eUpButton, eDownButton, eStopButton, eAddButton, eReleaseButton;
    }

    fun begin(goUp: bool) {
        if (sizeof(inUse) > 0) {
            isUp = goUp;
            goto Preparing;
        }
    }

    fun answered(number: int) {
        missing -= (number);
        if (sizeof(missing) == 0) {
            if (isOff) {
                goto Staying;
            }
            goto Moving;
        }
    }
}

machine Lift {
    var controller: machine;
    var number: int;
    var height: int;
    var isUp: bool;

    start state Begin {
        entry (given: (controller: machine, number: int)) {
            controller = given.controller;
            number = given.number;
            goto Released;
        }
    }

    state Released {
        on eJoin do (at: int) {
            height = at;
            announce eCarries, (number = number, height = height);
            send controller, eJoined, number;
            goto Standing;
        }
    }

    state Standing {
        on ePrepare do (goUp: bool) {
            isUp = goUp;
            if (isUp && height == maxHeight || !isUp && height == 0 || $) {
                isUp = false;
                send controller, eRefused, number;
            } else {
                send controller, eReady, number;
                goto Prepared;
            }
        }
        on eLeave do {
            height = 0;
            announce eReleased, number;
            send controller, eLeft, number;
            goto Released;
        }
    }

    state Prepared {
        on eGo do {
            if (isUp) {
                height = height + 1;
            } else {
                height = height - 1;
            }
            isUp = false;
            assert height >= 0 && height <= maxHeight, "off the rails";
            announce eCarries, (number = number, height = height);
            send controller, eMoved, (number = number, height = height);
            goto Standing;
        }
        on eStay do {
            isUp = false;
            send controller, eStayed, number;
            goto Standing;
        }
    }
}

// Press buttons for ever, any button at any time.
machine Workers {
    var controller: machine;

    start state Begin {
        entry (given: machine) {
            controller = given;
            goto Pressing;
        }
    }

    state Pressing {
        entry {
            if ($) {
                if ($) {
                    send controller, eUpButton;
                } else {
                    send controller, eDownButton;
                }
            } else if ($) {
                send controller, eStopButton;
            } else if ($) {
                send controller, eAddButton, choose(nLifts);
            } else {
                send controller, eReleaseButton, choose(nLifts);
            }
            goto Pressing;
        }
    }
}

machine Yard {
    start state Begin {
        entry {
            new Workers(new Controller());
        }
    }
}
