// Chain replication. Writes enter at the head, go down the chain, and are acknowledged by the tail, which also answers
// reads. Nodes may be stopped; a master, which knows at once, joins the rest together, and each node sends its new
// successor what that one has not acknowledged. What is checked: a client reads what it has written last, no node
// misses an update, and every write is acknowledged in the end. A hasty head acknowledges by itself.

param nNodes: int;
param nStops: int;
param isHasty: bool;

type tWrite = (client: Client, value: int);
type tUpdate = (number: int, write: tWrite);
type tNeighbours = (before: machine, after: machine);

event eWrite: tWrite;
event eUpdate: tUpdate;
event eApplied: int;
event eWritten: int;
event eRead: (client: Client, number: int);
event eValue: (number: int, value: int);
event eNeighbours: tNeighbours;
event eEnds: (head: Node, tail: Node);
event eStop;
event eStopped: Node;

machine Node {
    var master: Master;
    var before: machine;
    var after: machine;
    var value: int;
    var nApplied: int;
    // What the successor has not acknowledged.
    var open: seq[tUpdate];

    start state Begin {
        entry (given: Master) {
            master = given;
        }
        on eNeighbours goto Serving with join;
        defer eWrite, eUpdate, eRead, eStop;
    }

    state Serving {
        on eWrite do (write: tWrite) {
            if (before == null && write.value > value) {
                apply((number = nApplied + 1, write = write));
            }
        }
        on eUpdate do (update: tUpdate) {
            if (update.number > nApplied) {
                assert update.number == nApplied + 1, format("update {0} comes after {1}", update.number, nApplied);
                apply(update);
            }
        }
        on eApplied do (number: int) {
            while (sizeof(open) > 0 && open[0].number <= number) {
                open -= (0);
            }
            acknowledge(number);
        }
        on eRead do (request: (client: Client, number: int)) {
            send request.client, eValue, (number = request.number, value = value);
        }
        on eNeighbours do join;
        on eStop goto Stopped;
    }

    state Stopped {
        entry {
            send master, eStopped, this;
        }
        ignore eWrite, eUpdate, eApplied, eRead, eNeighbours;
    }

    fun apply(update: tUpdate) {
        nApplied = update.number;
        value = update.write.value;
        if (isHasty && before == null) {
            send update.write.client, eWritten, value;
        }
        if (after != null) {
            open += (sizeof(open), update);
            send after, eUpdate, update;
        } else {
            finish(update);
        }
    }

    // Behind the last node.
    fun finish(update: tUpdate) {
        if (!isHasty) {
            send update.write.client, eWritten, update.write.value;
        }
        acknowledge(update.number);
    }

    fun acknowledge(number: int) {
        if (before != null) {
            send before, eApplied, number;
        }
    }

    fun join(neighbours: tNeighbours) {
        var update: tUpdate;
        before = neighbours.before;
        after = neighbours.after;
        foreach (update in open) {
            if (after != null) {
                send after, eUpdate, update;
            } else {
                finish(update);
            }
        }
        if (after == null) {
            open = default(seq[tUpdate]);
        }
    }
}

machine Master {
    var nodes: seq[Node];
    var client: Client;

    start state Begin {
        entry {
            var node: Node;
            var nLeft: int;
            while (sizeof(nodes) < nNodes) {
                nodes += (sizeof(nodes), new Node(this));
            }
            client = new Client();
            arrange();
            nLeft = nStops;
            foreach (node in nodes) {
                if (nLeft > 0 && $) {
                    send node, eStop;
                    nLeft = nLeft - 1;
                }
            }
        }
        on eStopped do (node: Node) {
            var i: int;
            while (nodes[i] != node) {
                i = i + 1;
            }
            nodes -= (i);
            arrange();
        }
    }

    fun arrange() {
        var i: int;
        var neighbours: tNeighbours;
        while (i < sizeof(nodes)) {
            neighbours = default(tNeighbours);
            if (i > 0) {
                neighbours.before = nodes[i - 1];
            }
            if (i + 1 < sizeof(nodes)) {
                neighbours.after = nodes[i + 1];
            }
            send nodes[i], eNeighbours, neighbours;
            i = i + 1;
        }
        if (i > 0) {
            send client, eEnds, (head = nodes[0], tail = nodes[i - 1]);
        }
    }
}

machine Client {
    var head: Node;
    var tail: Node;
    var n: int;

    start state Waiting {
        on eEnds goto Writing with learn;
    }

    state Writing {
        entry {
            n = n + 1;
            write();
        }
        on eWritten do (value: int) {
            if (value == n) {
                goto Reading;
            }
        }
        on eEnds do (ends: (head: Node, tail: Node)) {
            var isNew: bool;
            isNew = ends.head != head;
            learn(ends);
            if (isNew) {
                write();
            }
        }
        ignore eValue;
    }

    state Reading {
        entry {
            send tail, eRead, (client = this, number = n);
        }
        on eValue do (answer: (number: int, value: int)) {
            if (answer.number == n) {
                assert answer.value == n, format("{0} was written, and {1} is read", n, answer.value);
                if (n < 2) {
                    goto Writing;
                }
                goto Content;
            }
        }
        on eEnds goto Reading with learn;
        ignore eWritten;
    }

    state Content {
        ignore eEnds, eWritten, eValue;
    }

    fun learn(ends: (head: Node, tail: Node)) {
        head = ends.head;
        tail = ends.tail;
    }

    fun write() {
        send head, eWrite, (client = this, value = n);
    }
}

spec EveryWriteIsAcknowledged observes eWrite, eWritten {
    var last: int;

    start cold state Quiet {
        on eWrite do (write: tWrite) {
            if (write.value > last) {
                last = write.value;
                goto Open;
            }
        }
        ignore eWritten;
    }
    hot state Open {
        on eWritten do (value: int) {
            if (value == last) {
                goto Quiet;
            }
        }
        ignore eWrite;
    }
}

module Chain = { Master, Node, Client };

test param (nNodes in [1, 2, 3, 4], nStops in [0], isHasty in [false]) tcChain [main=Master]:
    assert EveryWriteIsAcknowledged in Chain;
test param (nNodes in [2, 3, 4], nStops in [1], isHasty in [false]) tcOneStops [main=Master]:
    assert EveryWriteIsAcknowledged in Chain;
test param (nNodes in [1], nStops in [1], isHasty in [false]) tcNobodyLeft [main=Master]:
    assert EveryWriteIsAcknowledged in Chain;
test param (nNodes in [3], nStops in [2], isHasty in [false]) tcTwoStop [main=Master]:
    assert EveryWriteIsAcknowledged in Chain;
test param (nNodes in [2, 3], nStops in [0], isHasty in [true]) tcHasty [main=Master]:
    assert EveryWriteIsAcknowledged in Chain;
