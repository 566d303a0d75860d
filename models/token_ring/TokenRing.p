// A token that goes round nNodes nodes for ever; who has it may enter the critical section. What is checked: nobody is there
// together with another, and again and again somebody is.

param nNodes: int;

event eNext: machine;
event eToken;
event eWant;

// What the monitors hear.
event eEnters: int;
event eLeaves: int;

machine Node {
    var number: int;
    var next: machine;

    start state Begin {
        entry (given: int) {
            number = given;
        }
        on eNext do (given: machine) {
            next = given;
            goto Waiting;
        }
        defer eToken;
    }

    state Waiting {
        on eToken do {
            if ($) {
                announce eEnters, number;
                goto Inside;
            }
            send next, eToken;
        }
    }

    state Inside {
        entry {
            send this, eWant;
        }
        on eWant do {
            announce eLeaves, number;
            send next, eToken;
            goto Waiting;
        }
    }
}

machine Driver {
    start state Begin {
        entry {
            var nodes: seq[machine];
            var i: int;
            while (i < nNodes) {
                nodes += (i, new Node(i));
                i = i + 1;
            }
            i = 0;
            while (i < nNodes) {
                send nodes[i], eNext, nodes[(i + 1) % nNodes];
                i = i + 1;
            }
            send nodes[0], eToken;
        }
    }
}

spec Alone observes eEnters, eLeaves {
    start state Empty {
        on eEnters goto Taken;
    }
    state Taken {
        on eLeaves goto Empty;
    }
}

spec AgainAndAgain observes eEnters, eLeaves {
    start hot state Nobody {
        on eEnters goto Somebody;
    }
    cold state Somebody {
        on eLeaves goto Nobody;
    }
}

module Ring = { Driver, Node };

test param (nNodes in [2, 3, 4, 5, 6]) tcToken [main=Driver]:
    assert Alone, AgainAndAgain in Ring;
