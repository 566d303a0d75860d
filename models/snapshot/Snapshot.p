// A snapshot of branches that send each other coins, by markers: whoever sees its first marker records what it has and
// passes a marker on to everybody; what arrives from a branch before that one's marker was on its way, and counts. What is
// checked: a snapshot has every coin once, each branch takes part once, and a snapshot that was begun comes to an end. Hasty
// branches do not wait for markers, so coins on their way are lost. Markers need channels that keep the order.

param nBranches: int;
param nCoins: int;
param isHasty: bool;

event eBranches: map[int, Branch];
event eCoin: int;
event eMarker: int;
event eTake;

// What the monitors hear.
event eTotal: (coins: int, branches: int);
event eTaken;
event eRecorded: (branch: int, coins: int, onTheirWay: map[int, int]);

machine Branch {
    var number: int;
    var coins: int;
    var others: map[int, Branch];
    var hasRecorded: bool;
    var recorded: int;
    // By sender, coins that arrived after the snapshot began here; and senders whose markers are still to come.
    var onTheirWay: map[int, int];
    var unmarked: set[int];

    start state Begin {
        entry (given: (number: int, coins: int)) {
            number = given.number;
            coins = given.coins;
        }
        on eBranches goto Open with (all: map[int, Branch]) {
            others = all;
            others -= (number);
        }
        defer eCoin, eMarker, eTake;
    }

    state Open {
        entry {
            spend();
        }
        on eCoin do (sender: int) {
            coins = coins + 1;
            if (hasRecorded && sender in unmarked) {
                onTheirWay[sender] = onTheirWay[sender] + 1;
            }
        }
        on eTake do {
            if (!hasRecorded) {
                record(number);
            }
        }
        on eMarker do (sender: int) {
            if (!hasRecorded) {
                record(sender);
            } else {
                unmarked -= (sender);
            }
            if (sizeof(unmarked) == 0) {
                announce eRecorded, (branch = number, coins = recorded, onTheirWay = onTheirWay);
                goto Done;
            }
        }
    }

    state Done {
        on eCoin do {
            coins = coins + 1;
        }
        ignore eMarker, eTake;
    }

    fun spend() {
        var other: int;
        while (coins > 0 && $) {
            other = choose(keys(others));
            coins = coins - 1;
            send others[other], eCoin, number;
        }
    }

    fun record(first: int) {
        var other: int;
        hasRecorded = true;
        recorded = coins;
        foreach (other in keys(others)) {
            onTheirWay[other] = 0;
            if (other != first && !isHasty) {
                unmarked += (other);
            }
        }
        foreach (other in keys(others)) {
            send others[other], eMarker, number;
        }
    }
}

machine Bank {
    start state S {
        entry {
            var all: map[int, Branch];
            var number: int;
            announce eTotal, (coins = nBranches * nCoins, branches = nBranches);
            while (number < nBranches) {
                all[number] = new Branch((number = number, coins = nCoins));
                number = number + 1;
            }
            foreach (number in keys(all)) {
                send all[number], eBranches, all;
            }
            announce eTaken;
            send all[0], eTake;
        }
    }
}

spec EveryCoinOnce observes eTotal, eRecorded {
    var coins: int;
    var branches: int;
    var counted: int;
    var seen: set[int];

    start state Begin {
        on eTotal goto Count with (total: (coins: int, branches: int)) {
            coins = total.coins;
            branches = total.branches;
        }
    }
    state Count {
        on eRecorded do (part: (branch: int, coins: int, onTheirWay: map[int, int])) {
            var more: int;
            assert !(part.branch in seen), format("branch {0} takes part twice", part.branch);
            seen += (part.branch);
            counted = counted + part.coins;
            foreach (more in values(part.onTheirWay)) {
                counted = counted + more;
            }
            assert sizeof(seen) < branches || counted == coins,
                format("the snapshot has {0} of {1} coins", counted, coins);
        }
    }
}

spec SnapshotsEnd observes eTotal, eTaken, eRecorded {
    var missing: int;

    start cold state Quiet {
        on eTotal do (total: (coins: int, branches: int)) {
            missing = total.branches;
        }
        on eTaken goto Busy;
    }
    hot state Busy {
        on eRecorded do {
            missing = missing - 1;
            if (missing == 0) {
                goto Quiet;
            }
        }
    }
}

module Branches = { Bank, Branch };

test param (nBranches in [2, 3], nCoins in [1, 2], isHasty in [false]) tcSnapshot [main=Bank]:
    assert EveryCoinOnce, SnapshotsEnd in Branches;
test param (nBranches in [3], nCoins in [1], isHasty in [true]) tcHasty [main=Bank]:
    assert EveryCoinOnce in Branches;
