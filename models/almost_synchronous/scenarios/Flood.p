// One machine sends any number of messages to a receiver and then one to a go-between, who tells the receiver. The
// receiver takes that first and everything before it later, so its inbox really has to hold any number of messages.

event eFlood;
event eLastOfAll;
event eAsk;
event eGo;

// What the monitor hears.
event eTaken;
event eReleased;

machine Flooder {
    var between: machine;
    var receiver: machine;

    start state Begin {
        entry {
            receiver = new Receiver();
            between = new Between(receiver);
            goto Flooding;
        }
    }

    state Flooding {
        entry {
            if ($) {
                send receiver, eFlood;
                goto Flooding;
            }
            send between, eAsk;
        }
    }
}

machine Between {
    var receiver: machine;

    start state Waiting {
        entry (given: machine) {
            receiver = given;
        }
        on eAsk do {
            send receiver, eGo;
        }
    }
}

// Lets the receiver go without being asked, with one message too many. A mutant.
machine EagerBetween {
    var receiver: machine;

    start state Waiting {
        entry (given: machine) {
            receiver = given;
        }
        on eAsk do {
            send receiver, eGo;
            send receiver, eLastOfAll;
        }
    }
}

machine Receiver {
    start state Closed {
        defer eFlood;
        on eGo do {
            announce eReleased;
            goto Open;
        }
    }

    state Open {
        on eFlood do {
            announce eTaken;
        }
    }
}

spec TakenAfterRelease observes eTaken, eReleased {
    start state Closed_ {
        on eReleased goto Open_;
        on eTaken do {
            assert false, "taken before the release";
        }
    }

    state Open_ {
        on eReleased do {
            assert false, "released twice";
        }
        ignore eTaken;
    }
}

test tcFlood [main=Flooder]: assert TakenAfterRelease in { Flooder, Between, Receiver };
test tcEagerFlood [main=Flooder]: assert TakenAfterRelease in { Flooder, EagerBetween -> Between, Receiver };
