// The monitor goes back to a state that is not marked as cold, so it never cools.
event eOn;
event eOff;
event eTick;

machine Lamp {
    var isOn: bool;
    start state Blinking {
        entry {
            send this, eTick;
        }
        on eTick do {
            if (isOn) {
                announce eOff;
            } else {
                announce eOn;
            }
            isOn = !isOn;
            send this, eTick;
        }
    }
}

spec GoesOff observes eOn, eOff {
    start state Dark {
        on eOn goto Bright;
        ignore eOff;
    }
    hot state Bright {
        on eOff goto Dark;
        ignore eOn;
    }
}

test tcLamp [main = Lamp]: assert GoesOff in { Lamp };
