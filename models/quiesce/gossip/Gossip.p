// Rumors between three nodes. A node passes on what it hears; the wrong one also what it has known before, so that a rumor goes round for ever.

event ePeers: seq[machine];
event eRumor: int;

machine Node {
    var peers: seq[machine];
    var known: set[int];
    var repeats: bool;

    start state Init {
        entry (is_wrong: bool) { repeats = is_wrong; }
        on ePeers goto Gossiping with (all: seq[machine]) { peers = all; }
        defer eRumor;
    }

    state Gossiping {
        on eRumor do (rumor: int) {
            if (rumor in known && !repeats) { return; }
            if (!(rumor in known)) { known += (rumor); }
            send choose(peers), eRumor, rumor;
        }
    }
}

fun Spread(is_wrong: bool) {
    var nodes: seq[machine];
    var i: int;
    var j: int;
    var others: seq[machine];
    while (i < 3) {
        nodes += (i, new Node(is_wrong));
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
        send nodes[i], ePeers, others;
        i = i + 1;
    }
    send nodes[0], eRumor, 1;
    send nodes[1], eRumor, 2;
}

machine Right { start state Init { entry { Spread(false); } } }
machine Wrong { start state Init { entry { Spread(true); } } }

test tcRight [main = Right]: { Right, Node };
test tcWrong [main = Wrong]: { Wrong, Node };
