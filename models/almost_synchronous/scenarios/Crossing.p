// Two peers greet each other at the same time, round after round: neither can take what the other sends before it has
// sent its own. After this excursion both are where they began.

event eHello: (from: machine, round: bool);
event eFriend: machine;

// What the monitor hears.
event eMet: int;

machine Peer {
    var number: int;
    var friend: machine;
    var round: bool;

    start state Begin {
        entry (given: int) {
            number = given;
        }
        on eFriend do (given: machine) {
            friend = given;
            goto Greeting;
        }
        defer eHello;
    }

    state Greeting {
        entry {
            send friend, eHello, (from = this, round = round);
            goto Waiting;
        }
    }

    state Waiting {
        on eHello do (hello: (from: machine, round: bool)) {
            assert hello.from == friend && hello.round == round, "a greeting of another round";
            announce eMet, number;
            round = !round;
            goto Greeting;
        }
    }
}

// Answers a greeting instead of waiting for its own turn, as if greetings never crossed. A mutant.
machine PolitePeer {
    var number: int;
    var friend: machine;
    var round: bool;

    start state Begin {
        entry (given: int) {
            number = given;
        }
        on eFriend do (given: machine) {
            friend = given;
            goto Greeting;
        }
        defer eHello;
    }

    state Greeting {
        entry {
            send friend, eHello, (from = this, round = round);
            goto Waiting;
        }
    }

    state Waiting {
        on eHello do (hello: (from: machine, round: bool)) {
            assert hello.from == friend && hello.round == round, "a greeting of another round";
            announce eMet, number;
            if ($) {
                send friend, eHello, (from = this, round = round);
            }
            round = !round;
            goto Greeting;
        }
    }
}

machine Meeting {
    start state Begin {
        entry {
            var one: machine;
            var other: machine;
            one = new Peer(0);
            other = new Peer(1);
            send one, eFriend, other;
            send other, eFriend, one;
        }
    }
}

// Neither peer is more than two meetings ahead of the other.
spec SideBySide observes eMet {
    var ahead: int;

    start state Watching {
        on eMet do (number: int) {
            if (number == 0) {
                ahead = ahead + 1;
            } else {
                ahead = ahead - 1;
            }
            assert ahead >= -2 && ahead <= 2, "one peer has met itself";
        }
    }
}

test tcCrossing [main=Meeting]: assert SideBySide in { Meeting, Peer };
test tcPoliteCrossing [main=Meeting]: assert SideBySide in { Meeting, PolitePeer -> Peer };
