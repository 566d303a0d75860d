// Randomized agreement after Ben-Or over a board: nNodes nodes, of which nFaults may be slow for ever, agree on a bit, and what
// one says all can read at once. In each round a node writes its bit; then, when enough have, it votes for the bit of more than
// half of all, or for none; then, when enough have voted, it decides on a bit that more than nFaults voted for, or takes
// over one that somebody voted for, or throws a coin. Rounds are bounded by maxRound. What is checked: nobody decides
// otherwise than another.
//
// The other model of it (`ben_or`) sends every word to every node by itself, which is closer to a real network and has far
// more configurations. There is a board for each round. Who comes too early waits there until there is enough to read.

param nNodes: int;
param nFaults: int;
param maxRound: int;

event eBit: int;
event eVote;
event eRead: machine;
// The answer: how many voted for a bit (one of both at most has votes), and for which.
event eVotes: (n: int, bit: int);

// What the monitor hears.
event eDecided: int;

// What is said in one round.
machine Board {
    var zeros: int;
    var ones: int;
    // Who waits to vote, then votes for 0, 1 and none.
    var nVoters: int;
    var zeroVotes: int;
    var oneVotes: int;
    var otherVotes: int;
    // Who waits for votes.
    var readers: seq[machine];

    start state Open {
        on eBit do (bit: int) {
            if (bit == 0) {
                zeros = zeros + 1;
            } else {
                ones = ones + 1;
            }
            vote();
        }
        on eVote do {
            nVoters = nVoters + 1;
            vote();
        }
        on eRead do (reader: machine) {
            readers += (sizeof(readers), reader);
            tell();
        }
    }

    fun vote() {
        if (nVoters > 0 && zeros + ones >= nNodes - nFaults) {
            if (2 * zeros > nNodes) {
                zeroVotes = zeroVotes + nVoters;
            } else if (2 * ones > nNodes) {
                oneVotes = oneVotes + nVoters;
            } else {
                otherVotes = otherVotes + nVoters;
            }
            nVoters = 0;
            tell();
        }
    }

    fun tell() {
        var reader: machine;
        if (zeroVotes + oneVotes + otherVotes >= nNodes - nFaults) {
            while (sizeof(readers) > 0) {
                reader = readers[0];
                readers -= (0);
                if (zeroVotes > 0) {
                    send reader, eVotes, (n = zeroVotes, bit = 0);
                } else {
                    send reader, eVotes, (n = oneVotes, bit = 1);
                }
            }
        }
    }
}

machine Node {
    start state Going {
        entry (given: (boards: seq[machine], bit: int)) {
            var round: int;
            var bit: int;
            var hasDecided: bool;
            bit = given.bit;
            while (round < maxRound) {
                send given.boards[round], eBit, bit;
                send given.boards[round], eVote;
                send given.boards[round], eRead, this;
                receive {
                    case eVotes: (votes: (n: int, bit: int)) {
                        if (votes.n > 0) {
                            bit = votes.bit;
                        } else if ($) {
                            bit = 0;
                        } else {
                            bit = 1;
                        }
                        if (votes.n > nFaults && !hasDecided) {
                            hasDecided = true;
                            announce eDecided, bit;
                        }
                    }
                }
                round = round + 1;
            }
        }
    }
}

machine Driver {
    start state Begin {
        entry {
            var boards: seq[machine];
            var i: int;
            while (i < maxRound) {
                boards += (i, new Board());
                i = i + 1;
            }
            new Node((boards = boards, bit = 0));
            i = 1;
            while (i < nNodes) {
                new Node((boards = boards, bit = 1));
                i = i + 1;
            }
        }
    }
}

spec OneDecision observes eDecided {
    var decision: int;
    var hasDecision: bool;

    start state Watching {
        on eDecided do (bit: int) {
            assert !hasDecision || decision == bit, "two decisions";
            decision = bit;
            hasDecision = true;
        }
    }
}

test param (nNodes in [3, 4], nFaults in [1], maxRound in [1, 2, 3]) tcBenOrBoard [main=Driver]:
    assert OneDecision in { Driver, Board, Node };
