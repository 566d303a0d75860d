// A detector pings nNodes nodes, in rounds, and suspects those that stay silent in a round. Nodes may be stopped by the
// environment at any moment; a slow answer cannot be told from a missing one, so the detector waits for as long as a
// node lives. What is checked: nobody is suspected who was not stopped, and who is stopped is suspected in the end.

param nNodes: int;

event ePing: machine;
event ePong: machine;
event eMissing: machine;
event eStop;

// What the monitors hear.
event eStopped: machine;
event eSuspected: machine;

machine Node {
    start state Alive {
        on ePing do (who: machine) {
            send who, ePong, this;
        }
        on eStop do {
            announce eStopped, this;
            goto Dead;
        }
    }

    // The network tells the detector that nobody is there.
    state Dead {
        on ePing do (who: machine) {
            send who, eMissing, this;
        }
        ignore eStop;
    }
}

machine Detector {
    var nodes: seq[machine];
    var suspects: set[machine];
    var nOpen: int;

    start state Begin {
        entry (given: seq[machine]) {
            nodes = given;
            goto Asking;
        }
    }

    state Asking {
        entry {
            var node: machine;
            nOpen = 0;
            foreach (node in nodes) {
                if (!(node in suspects)) {
                    nOpen = nOpen + 1;
                    send node, ePing, this;
                }
            }
            if (nOpen == 0) {
                goto AllGone;
            }
        }
        on ePong do {
            answered();
        }
        on eMissing do (node: machine) {
            suspects += (node);
            announce eSuspected, node;
            answered();
        }
    }

    state AllGone {
    }

    fun answered() {
        nOpen = nOpen - 1;
        if (nOpen == 0) {
            goto Asking;
        }
    }
}

machine Environment {
    start state Begin {
        entry {
            var nodes: seq[machine];
            var i: int;
            while (i < nNodes) {
                nodes += (i, new Node());
                i = i + 1;
            }
            new Detector(nodes);
            i = 0;
            while (i < nNodes) {
                if ($) {
                    send nodes[i], eStop;
                }
                i = i + 1;
            }
        }
    }
}

spec NoFalseAlarm observes eStopped, eSuspected {
    var stopped: set[machine];

    start state Watching {
        on eStopped do (node: machine) {
            stopped += (node);
        }
        on eSuspected do (node: machine) {
            assert node in stopped, "a living node is suspected";
        }
    }
}

spec AllAreFound observes eStopped, eSuspected {
    var n: int;

    start cold state Calm {
        on eStopped do {
            n = 1;
            goto Missing;
        }
    }
    hot state Missing {
        on eStopped do {
            n = n + 1;
        }
        on eSuspected do {
            n = n - 1;
            if (n == 0) {
                goto Calm;
            }
        }
    }
}

test param (nNodes in [1, 2, 3, 4, 5]) tcDetector [main=Environment]:
    assert NoFalseAlarm, AllAreFound in { Environment, Detector, Node };
