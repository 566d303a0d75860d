// The Streamlet blockchain: nNodes nodes, nEpochs epochs. A clock tells each node that an epoch begins. Its leader proposes a block on top of a longest
// notarized chain that it knows; the others vote for the first proposal of their epoch if it extends a longest notarized chain that they
// know. A block with votes of `quorum` nodes is notarized. Of three blocks in a row of consecutive epochs, all notarized, the second is
// final, with all before it. Clocks and messages may be late, so that nodes know different chains. What is checked: final blocks are in one
// chain. A block is named by its epoch, and epoch 0 is the first block of all.

param nNodes: int;
param nEpochs: int;
param quorum: int;

type tBlock = (epoch: int, parent: int);

event eNodes: seq[machine];
event eEpoch: int;
event ePropose: tBlock;
event eVote: tBlock;

// What the monitor hears.
event eProposed: tBlock;
event eFinal: int;

machine Node {
    var number: int;
    var nodes: seq[machine];
    var epoch: int;
    // The last epoch in which it has voted.
    var voted: int;
    var parents: map[int, int];
    var votes: map[int, int];

    start state Meet {
        entry (given: int) {
            number = given;
        }
        on eNodes do (given: seq[machine]) {
            nodes = given;
            goto Running;
        }
        defer eEpoch, ePropose, eVote;
    }

    state Running {
        on eEpoch do (now: int) {
            epoch = now;
            if (now % nNodes == number) {
                propose((epoch = now, parent = longest()));
            }
        }
        on ePropose do (block: tBlock) {
            if (block.epoch == epoch && voted < epoch && height(block.parent) == height(longest())) {
                vote(block);
            }
        }
        on eVote do (block: tBlock) {
            count(block);
        }
    }

    fun propose(block: tBlock) {
        var node: machine;
        announce eProposed, block;
        foreach (node in nodes) {
            if (node != this) {
                send node, ePropose, block;
            }
        }
        vote(block);
    }

    fun vote(block: tBlock) {
        var node: machine;
        voted = block.epoch;
        foreach (node in nodes) {
            if (node != this) {
                send node, eVote, block;
            }
        }
        count(block);
    }

    fun count(block: tBlock) {
        parents[block.epoch] = block.parent;
        if (!(block.epoch in votes)) {
            votes[block.epoch] = 0;
        }
        votes[block.epoch] = votes[block.epoch] + 1;
        if (votes[block.epoch] == quorum) {
            finish(block.epoch);
            finish(block.epoch + 1);
            finish(block.epoch + 2);
        }
    }

    fun isNotarized(block: int): bool {
        return block == 0 || (block in votes && votes[block] >= quorum);
    }

    // The length of the chain below a block; -1 if some of it is not notarized.
    fun height(block: int): int {
        var n: int;
        var at: int;
        at = block;
        while (at != 0) {
            if (!isNotarized(at)) {
                return 0 - 1;
            }
            at = parents[at];
            n = n + 1;
        }
        return n;
    }

    // The last block of a longest notarized chain, and of several the newest.
    fun longest(): int {
        var block: int;
        var best: int;
        while (block <= nEpochs) {
            if (isNotarized(block) && height(block) >= height(best)) {
                best = block;
            }
            block = block + 1;
        }
        return best;
    }

    // Whether a block is the last of three.
    fun finish(last: int) {
        if (last >= 2 && isNotarized(last) && parents[last] == last - 1 && isNotarized(last - 1)
                && parents[last - 1] == last - 2 && isNotarized(last - 2)) {
            announce eFinal, last - 1;
        }
    }
}

machine Clock {
    start state Begin {
        entry {
            var nodes: seq[machine];
            var node: machine;
            var i: int;
            while (i < nNodes) {
                nodes += (i, new Node(i));
                i = i + 1;
            }
            foreach (node in nodes) {
                send node, eNodes, nodes;
            }
            i = 1;
            while (i <= nEpochs) {
                foreach (node in nodes) {
                    send node, eEpoch, i;
                }
                i = i + 1;
            }
        }
    }
}

spec OneChain observes eProposed, eFinal {
    var parents: map[int, int];
    var newest: int;

    start state Watching {
        on eProposed do (block: tBlock) {
            parents[block.epoch] = block.parent;
        }
        on eFinal do (block: int) {
            var low: int;
            var high: int;
            low = block;
            high = newest;
            if (newest < block) {
                low = newest;
                high = block;
            }
            newest = high;
            while (high > low) {
                high = parents[high];
            }
            assert high == low, "two final blocks are in different chains";
        }
    }
}

test param (nNodes in [3], nEpochs in [2, 3], quorum in [2]) tcStreamlet [main = Clock]:
    assert OneChain in { Clock, Node };
test param (nNodes in [3], nEpochs in [6], quorum in [1]) tcTooFew [main = Clock]:
    assert OneChain in { Clock, Node };
