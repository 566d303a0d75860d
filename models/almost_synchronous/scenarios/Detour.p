// A sends to B, then to C; B sends to C by itself. Looking only at messages that are taken at once shows C hear B first;
// it may as well hear A first, since B takes its time. Rounds go on for ever: C answers both.

event eStartB;
event eFromB;
event eFromA;
event eRoundOver;

machine First {
    var second: machine;
    var third: machine;

    start state Begin {
        entry {
            third = new Third(this);
            second = new Second(third);
            goto Sending;
        }
    }

    state Sending {
        entry {
            send second, eStartB;
            send third, eFromA;
        }
        on eRoundOver goto Sending;
    }
}

machine Second {
    var third: machine;

    start state Waiting {
        entry (given: machine) {
            third = given;
        }
        on eStartB do {
            send third, eFromB;
        }
    }
}

machine Third {
    var first: machine;

    start state Begin {
        entry (given: machine) {
            first = given;
            goto Empty;
        }
    }

    state Empty {
        on eFromA goto HasA;
        on eFromB goto HasB;
    }

    state HasA {
        on eFromB do {
            send first, eRoundOver;
            goto Empty;
        }
    }

    state HasB {
        on eFromA do {
            send first, eRoundOver;
            goto Empty;
        }
    }
}

// Relies on the order in which a synchronous world would have it. A mutant.
machine OrderlyThird {
    var first: machine;

    start state Begin {
        entry (given: machine) {
            first = given;
            goto Empty;
        }
    }

    state Empty {
        on eFromB goto HasB;
    }

    state HasB {
        on eFromA do {
            send first, eRoundOver;
            goto Empty;
        }
    }
}

// A round ends after both have sent.
spec BothSent observes eFromA, eFromB, eRoundOver {
    var hasA: bool;
    var hasB: bool;

    start state Watching {
        on eFromA do {
            hasA = true;
        }
        on eFromB do {
            hasB = true;
        }
        on eRoundOver do {
            assert hasA && hasB, "a round ended too early";
            hasA = false;
            hasB = false;
        }
    }
}

test tcDetour [main=First]: assert BothSent in { First, Second, Third };
test tcOrderlyDetour [main=First]: assert BothSent in { First, Second, OrderlyThird -> Third };
