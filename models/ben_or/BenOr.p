// Randomized agreement after Ben-Or: nNodes nodes, of which nFaults may be slow for ever, agree on a bit. In each round
// they report what they prefer, propose a bit that more than half of all reported, and decide on it when enough
// propose it; else they go on with a coin. Rounds are bounded by maxRound. What is checked: nobody decides otherwise than
// another, and what all began with is the only thing to decide.

param nNodes: int;
param nFaults: int;
param maxRound: int;

// The bit, or -1 for "no idea".
type tWord = (round: int, bit: int);

event ePeers: seq[machine];
event eReport: tWord;
event ePropose: tWord;

// What the monitor hears.
event eDecided: int;

machine Node {
    var peers: seq[machine];
    var bit: int;
    var round: int;
    // By bit, then "no idea": how many said so in this phase.
    var zeros: int;
    var ones: int;
    var others: int;
    var hasDecided: bool;

    start state Begin {
        entry (given: int) {
            bit = given;
            round = 1;
        }
        on ePeers do (given: seq[machine]) {
            peers = given;
            goto Reporting;
        }
        defer eReport, ePropose;
    }

    state Reporting {
        entry {
            clear();
            tellReport();
        }
        on eReport do (word: tWord) {
            if (word.round > round) {
                later += (sizeof(later), (isReport = true, word = word));
            } else if (word.round == round) {
                count(word.bit);
                if (zeros + ones + others == nNodes - nFaults) {
                    goto Proposing;
                }
            }
        }
        on ePropose do (word: tWord) {
            if (word.round >= round) {
                later += (sizeof(later), (isReport = false, word = word));
            }
        }
    }

    state Proposing {
        entry {
            var choice: int;
            choice = -1;
            if (2 * zeros > nNodes) {
                choice = 0;
            } else if (2 * ones > nNodes) {
                choice = 1;
            }
            clear();
            tellProposal(choice);
            again();
        }
        on ePropose do (word: tWord) {
            if (word.round > round) {
                later += (sizeof(later), (isReport = false, word = word));
            } else if (word.round == round) {
                count(word.bit);
                if (zeros + ones + others == nNodes - nFaults) {
                    finish();
                }
            }
        }
        on eReport do (word: tWord) {
            if (word.round > round) {
                later += (sizeof(later), (isReport = true, word = word));
            }
        }
    }

    state Done {
        ignore eReport, ePropose;
    }

    // What came too early, to be heard again.
    var later: seq[(isReport: bool, word: tWord)];

    fun clear() {
        zeros = 0;
        ones = 0;
        others = 0;
    }

    fun count(what: int) {
        if (what == 0) {
            zeros = zeros + 1;
        } else if (what == 1) {
            ones = ones + 1;
        } else {
            others = others + 1;
        }
    }

    fun tellReport() {
        var peer: machine;
        foreach (peer in peers) {
            send peer, eReport, (round = round, bit = bit);
        }
        again();
    }

    fun tellProposal(choice: int) {
        var peer: machine;
        foreach (peer in peers) {
            send peer, ePropose, (round = round, bit = choice);
        }
    }

    fun again() {
        var old: seq[(isReport: bool, word: tWord)];
        var entry0: (isReport: bool, word: tWord);
        old = later;
        later = default(seq[(isReport: bool, word: tWord)]);
        foreach (entry0 in old) {
            if (entry0.isReport) {
                send this, eReport, entry0.word;
            } else {
                send this, ePropose, entry0.word;
            }
        }
    }

    fun finish() {
        if (zeros > nFaults) {
            bit = 0;
            decide();
        } else if (ones > nFaults) {
            bit = 1;
            decide();
        } else if (zeros > 0) {
            bit = 0;
        } else if (ones > 0) {
            bit = 1;
        } else if ($) {
            bit = 0;
        } else {
            bit = 1;
        }
        round = round + 1;
        if (round > maxRound) {
            goto Done;
        }
        goto Reporting;
    }

    fun decide() {
        if (!hasDecided) {
            hasDecided = true;
            announce eDecided, bit;
        }
    }
}

machine Driver {
    start state Begin {
        entry {
            var nodes: seq[machine];
            var node: machine;
            var i: int;
            while (i < nNodes) {
                if (i == 0) {
                    nodes += (i, new Node(0));
                } else {
                    nodes += (i, new Node(1));
                }
                i = i + 1;
            }
            foreach (node in nodes) {
                send node, ePeers, nodes;
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

test param (nNodes in [3, 4], nFaults in [1], maxRound in [1, 2, 3]) tcBenOr [main=Driver]:
    assert OneDecision in { Driver, Node };
