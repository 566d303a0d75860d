// nTokens tokens go round nNodes nodes for ever. What is checked: a node handles one token at a time, which holds for every
// machine, so the point is the number of configurations.

param nNodes: int;
param nTokens: int;

event eNext: machine;
event eToken;

machine Node {
    var next: machine;

    start state Begin {
        on eNext do (given: machine) {
            next = given;
            goto Passing;
        }
        defer eToken;
    }

    state Passing {
        on eToken do {
            send next, eToken;
        }
    }
}

machine Driver {
    start state Begin {
        entry {
            var nodes: seq[machine];
            var i: int;
            while (i < nNodes) {
                nodes += (i, new Node());
                i = i + 1;
            }
            i = 0;
            while (i < nNodes) {
                send nodes[i], eNext, nodes[(i + 1) % nNodes];
                i = i + 1;
            }
            i = 0;
            while (i < nTokens) {
                send nodes[i], eToken;
                i = i + 1;
            }
        }
    }
}

test param (nNodes in [5, 10, 20, 50, 100], nTokens in [3]) tcRings [main = Driver]: { Node, Driver };
