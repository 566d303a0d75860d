// A spanning tree by flooding: a node that is searched for the first time takes the sender as its parent and searches its neighbours.
// The node of the wrong version leaves it to a clerk to record the parent, and passes on every search until the clerk has answered.

event eNeighbours: seq[machine];
event eSearch: machine;
event eRecord: machine;
event eRecorded: machine;

// Records what a node asks it to, and says so.
machine Clerk {
    start state Recording {
        on eRecord do (request: machine) { send request, eRecorded, request; }
    }
}

machine Node {
    var neighbours: seq[machine];
    var parent: machine;
    var has_parent: bool;
    var clerk: machine;
    var has_asked: bool;

    start state Init {
        entry (by_clerk: bool) { if (by_clerk) { clerk = new Clerk(); } }
        on eNeighbours goto Ready with (all: seq[machine]) { neighbours = all; }
        defer eSearch;
    }

    state Ready {
        on eSearch do (sender: machine) {
            var neighbour: machine;
            if (has_parent) { return; }
            if (clerk == null) {
                has_parent = true;
                parent = sender;
            } else if (!has_asked) {
                has_asked = true;
                send clerk, eRecord, this;
            }
            foreach (neighbour in neighbours) {
                if (neighbour != sender) { send neighbour, eSearch, this; }
            }
        }
        on eRecorded do { has_parent = true; }
    }
}

// Three nodes in a triangle; the first is the root.
fun Search(root: machine, by_clerk: bool) {
    var nodes: seq[machine];
    var i: int;
    var j: int;
    var others: seq[machine];
    while (i < 3) {
        nodes += (i, new Node(by_clerk));
        i = i + 1;
    }
    i = 0;
    while (i < 3) {
        j = 0;
        others = default(seq[machine]);
        while (j < 3) {
            if (j != i) { others += (sizeof(others), nodes[j]); }
            j = j + 1;
        }
        send nodes[i], eNeighbours, others;
        i = i + 1;
    }
    send nodes[0], eSearch, root;
}

machine Right { start state Init { entry { Search(this, false); } } }
machine Wrong { start state Init { entry { Search(this, true); } } }

test tcRight [main = Right]: { Right, Node, Clerk };
test tcWrong [main = Wrong]: { Wrong, Node, Clerk };
