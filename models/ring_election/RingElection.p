// Leader election in a ring after Chang and Roberts: nNodes nodes, numbered clockwise, any of which may start. A number
// travels round until it meets a smaller one that started; the smallest comes home and wins. What is checked: one
// leader at most, and it is the smallest starter.

param nNodes: int;

event eNext: machine;
event eNumber: int;

// What the monitor hears.
event eStarted: int;
event eElected: int;

machine Node {
    var number: int;
    var next: machine;
    var isCandidate: bool;

    start state Begin {
        entry (given: int) {
            number = given;
        }
        on eNext do (given: machine) {
            next = given;
            if ($) {
                isCandidate = true;
                announce eStarted, number;
                send next, eNumber, number;
            }
            goto Running;
        }
        defer eNumber;
    }

    state Running {
        on eNumber do (other: int) {
            if (!isCandidate) {
                send next, eNumber, other;
            } else if (other < number) {
                isCandidate = false;
                send next, eNumber, other;
            } else if (other == number) {
                announce eElected, number;
                goto Leader;
            }
        }
    }

    state Leader {
        ignore eNumber;
    }
}

machine Driver {
    start state Begin {
        entry {
            var nodes: seq[machine];
            var i: int;
            while (i < nNodes) {
                nodes += (i, new Node(i + 1));
                i = i + 1;
            }
            i = 0;
            while (i < nNodes) {
                send nodes[i], eNext, nodes[(i + 1) % nNodes];
                i = i + 1;
            }
        }
    }
}

spec OneLeader observes eStarted, eElected {
    var leader: int;

    start state Watching {
        on eStarted do (number: int) {
            assert leader == 0 || leader < number, "a leader that is not the smallest";
        }
        on eElected do (number: int) {
            assert leader == 0, "two leaders";
            leader = number;
        }
    }
}

test param (nNodes in [3, 4, 5, 6, 7, 8]) tcElection [main=Driver]:
    assert OneLeader in { Driver, Node };
