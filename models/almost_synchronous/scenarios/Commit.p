// A client that begins one transaction after the other for ever, a coordinator, and two replicas that vote on each.

event eBeginTransaction;
event eNextTransaction;
event eCommitRequest;
event eReplicaVote: bool;

// What the monitor hears.
event eDecision: bool;

machine Customer {
    var coordinator: machine;

    start state Begin {
        entry {
            coordinator = new Coordinator(this);
            goto Starting;
        }
    }

    state Starting {
        entry {
            send coordinator, eBeginTransaction;
        }
        on eNextTransaction goto Starting;
    }
}

machine Coordinator {
    var customer: machine;
    var left: machine;
    var right: machine;
    var isAgreed: bool;

    start state Begin {
        entry (given: machine) {
            customer = given;
            left = new Replica(this);
            right = new Replica(this);
            goto Ready;
        }
    }

    state Ready {
        on eBeginTransaction do {
            send left, eCommitRequest;
            send right, eCommitRequest;
            goto WaitForFirst;
        }
    }

    state WaitForFirst {
        on eReplicaVote do (isYes: bool) {
            isAgreed = isYes;
            goto WaitForSecond;
        }
    }

    state WaitForSecond {
        on eReplicaVote do (isYes: bool) {
            isAgreed = isAgreed && isYes;
            goto Answering;
        }
    }

    state Answering {
        entry {
            announce eDecision, isAgreed;
            isAgreed = false;
            send customer, eNextTransaction;
            goto Ready;
        }
    }
}

// Does not wait for the second vote once the first was against it. A mutant.
machine HastyCoordinator {
    var customer: machine;
    var left: machine;
    var right: machine;
    var isAgreed: bool;

    start state Begin {
        entry (given: machine) {
            customer = given;
            left = new Replica(this);
            right = new Replica(this);
            goto Ready;
        }
    }

    state Ready {
        on eBeginTransaction do {
            send left, eCommitRequest;
            send right, eCommitRequest;
            goto WaitForFirst;
        }
    }

    state WaitForFirst {
        on eReplicaVote do (isYes: bool) {
            isAgreed = isYes;
            if (isYes) {
                goto WaitForSecond;
            }
            goto Answering;
        }
    }

    state WaitForSecond {
        on eReplicaVote do (isYes: bool) {
            isAgreed = isAgreed && isYes;
            goto Answering;
        }
    }

    state Answering {
        entry {
            announce eDecision, isAgreed;
            isAgreed = false;
            send customer, eNextTransaction;
            goto Ready;
        }
    }
}

machine Replica {
    var coordinator: machine;

    start state Voting {
        entry (given: machine) {
            coordinator = given;
        }
        on eCommitRequest do {
            send coordinator, eReplicaVote, $;
        }
    }
}

// Only two votes for it commit a transaction.
spec TwoVotes observes eBeginTransaction, eReplicaVote, eDecision {
    var nYes: int;

    start state Watching {
        on eBeginTransaction do {
            nYes = 0;
        }
        on eReplicaVote do (isYes: bool) {
            if (isYes) {
                nYes = nYes + 1;
            }
        }
        on eDecision do (isAgreed: bool) {
            assert !isAgreed || nYes == 2, "committed without two votes";
        }
    }
}

test tcCommit [main=Customer]: assert TwoVotes in { Customer, Coordinator, Replica };
test tcHastyCommit [main=Customer]: assert TwoVotes in { Customer, HastyCoordinator -> Coordinator, Replica };
