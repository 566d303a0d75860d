// Shortest paths in a network with weights: a node that hears of a cheaper path takes it and passes it on. The wrong version takes a path
// that costs as much, too; round a circle of links that cost nothing it never stops.

event eLinks: seq[(node: machine, weight: int)];
event eCost: (sender: machine, cost: int);

machine Node {
    var links: seq[(node: machine, weight: int)];
    var cost: int;
    var parent: machine;
    var is_wrong: bool;

    start state Init {
        entry (wrong: bool) { is_wrong = wrong; cost = 100; }
        on eLinks goto Ready with (all: seq[(node: machine, weight: int)]) { links = all; }
        defer eCost;
    }

    state Ready {
        on eCost do (path: (sender: machine, cost: int)) {
            var link: (node: machine, weight: int);
            if (path.cost > cost) { return; }
            if (path.cost == cost && !is_wrong) { return; }
            cost = path.cost;
            parent = path.sender;
            foreach (link in links) {
                if (link.node != path.sender) {
                    send link.node, eCost, (sender = this, cost = cost + link.weight);
                }
            }
        }
    }
}

// A triangle whose links cost nothing.
fun Search(root: machine, wrong: bool) {
    var nodes: seq[machine];
    var i: int;
    var j: int;
    var links: seq[(node: machine, weight: int)];
    while (i < 3) {
        nodes += (i, new Node(wrong));
        i = i + 1;
    }
    i = 0;
    while (i < 3) {
        j = 0;
        links = default(seq[(node: machine, weight: int)]);
        while (j < 3) {
            if (j != i) { links += (sizeof(links), (node = nodes[j], weight = 0)); }
            j = j + 1;
        }
        send nodes[i], eLinks, links;
        i = i + 1;
    }
    send nodes[0], eCost, (sender = root, cost = 0);
}

machine Right { start state Init { entry { Search(this, false); } } }
machine Wrong { start state Init { entry { Search(this, true); } } }

test tcRight [main = Right]: { Right, Node };
test tcWrong [main = Wrong]: { Wrong, Node };
