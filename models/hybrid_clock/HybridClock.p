// Hybrid logical clocks after Kulkarni, Demirbas and others: nNodes nodes whose physical clocks tick up to maxTime, each
// at its own pace but never more than drift apart. With every tick a node either sends a message to somebody or takes
// notice of the last message that it got, and stamps that with a pair of the largest time heard of and a counter. What is
// checked: a stamp is larger than all that happened before it, its time is not behind the node's clock, and less than
// drift ahead, and its counter stays small.

param nNodes: int;
param maxTime: int;
param drift: int;

type tStamp = (time: int, count: int);

event eTick;
event eTicked: machine;
event eMessage: tStamp;
event ePeers: seq[machine];

machine Node {
    var clocks: machine;
    var peers: seq[machine];
    var clock: int;
    var stamp: tStamp;
    // The last message.
    var heard: tStamp;

    start state Begin {
        entry (given: machine) {
            clocks = given;
        }
        on ePeers do (given: seq[machine]) {
            var peer: machine;
            foreach (peer in given) {
                if (peer != this) {
                    peers += (sizeof(peers), peer);
                }
            }
            goto Running;
        }
        defer eTick, eMessage;
    }

    state Running {
        on eTick do {
            clock = clock + 1;
            if ($) {
                if (stamp.time >= clock) {
                    stamp.count = stamp.count + 1;
                } else {
                    stamp = (time = clock, count = 0);
                }
                check();
                send choose(peers), eMessage, stamp;
            } else {
                hear();
                check();
            }
            send clocks, eTicked, this;
        }
        on eMessage do (given: tStamp) {
            heard = given;
        }
    }

    // A stamp after our own and the one we heard of.
    fun hear() {
        var before: tStamp;
        before = stamp;
        if (clock > stamp.time && clock > heard.time) {
            stamp = (time = clock, count = 0);
        } else if (stamp.time == heard.time) {
            stamp = (time = stamp.time, count = larger(stamp.count, heard.count) + 1);
        } else if (stamp.time > heard.time) {
            stamp = (time = stamp.time, count = stamp.count + 1);
        } else {
            stamp = (time = heard.time, count = heard.count + 1);
        }
        assert after(stamp, before) && after(stamp, heard), "a stamp that is not later";
    }

    fun check() {
        assert stamp.time >= clock, "behind the clock";
        assert stamp.time < clock + drift, "too far ahead of the clock";
        assert stamp.count < nNodes * (drift + 1), "a counter that runs away";
    }

    fun larger(a: int, b: int): int {
        if (a > b) {
            return a;
        }
        return b;
    }

    fun after(a: tStamp, b: tStamp): bool {
        return a.time > b.time || a.time == b.time && a.count > b.count;
    }
}

// Lets physical clocks tick in any order, none more than drift ahead of another.
machine Clocks {
    var nodes: seq[machine];
    var times: map[machine, int];

    start state Begin {
        entry {
            var i: int;
            while (i < nNodes) {
                nodes += (i, new Node(this));
                times[nodes[i]] = 0;
                i = i + 1;
            }
            i = 0;
            while (i < nNodes) {
                send nodes[i], ePeers, nodes;
                i = i + 1;
            }
            goto Ticking;
        }
    }

    state Ticking {
        entry {
            tick();
        }
        on eTicked do (node: machine) {
            times[node] = times[node] + 1;
            tick();
        }
    }

    fun tick() {
        var ready: seq[machine];
        var node: machine;
        var slowest: int;
        slowest = maxTime;
        foreach (node in nodes) {
            if (times[node] < slowest) {
                slowest = times[node];
            }
        }
        foreach (node in nodes) {
            if (times[node] < maxTime && times[node] < slowest + drift) {
                ready += (sizeof(ready), node);
            }
        }
        if (sizeof(ready) > 0) {
            send choose(ready), eTick;
        }
    }
}

test param (nNodes in [2, 3], maxTime in [3, 4, 5], drift in [2]) tcClocks [main=Clocks]: { Clocks, Node };
