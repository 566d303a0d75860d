// Distances by flooding: a node that hears of a shorter path to the root takes it and passes it on. The wrong version also takes
// paths that are as short as the one it has, and forgets to count its own hop.

event eNeighbours: seq[machine];
event ePath: (sender: machine, hops: int);

machine Node {
    var neighbours: seq[machine];
    var distance: int;
    var parent: machine;
    var is_wrong: bool;

    start state Init {
        entry (wrong: bool) { is_wrong = wrong; distance = 100; }
        on eNeighbours goto Ready with (all: seq[machine]) { neighbours = all; }
        defer ePath;
    }

    state Ready {
        on ePath do (path: (sender: machine, hops: int)) {
            var neighbour: machine;
            var hops: int;
            if (path.hops > distance) { return; }
            if (path.hops == distance && !is_wrong) { return; }
            distance = path.hops;
            parent = path.sender;
            hops = distance + 1;
            if (is_wrong) { hops = distance; }
            foreach (neighbour in neighbours) {
                if (neighbour != path.sender) { send neighbour, ePath, (sender = this, hops = hops); }
            }
        }
    }
}

fun Search(root: machine, wrong: bool) {
    var nodes: seq[machine];
    var i: int;
    var j: int;
    var others: seq[machine];
    while (i < 3) {
        nodes += (i, new Node(wrong));
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
    send nodes[0], ePath, (sender = root, hops = 0);
}

machine Right { start state Init { entry { Search(this, false); } } }
machine Wrong { start state Init { entry { Search(this, true); } } }

test tcRight [main = Right]: { Right, Node };
test tcWrong [main = Wrong]: { Wrong, Node };
