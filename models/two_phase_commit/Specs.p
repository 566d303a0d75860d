// What two-phase commit promises.

// A transaction is committed only when every participant voted yes, and aborted or committed but not both.
spec Atomicity observes eBallot, eOutcome, eAnnounceSize {
  var size: int;
  var yes: map[int, set[int]];
  var decided: set[int];

  start state Watch {
    on eAnnounceSize do (n: int) {
      size = n;
    }
    on eBallot do (ballot: tBallot) {
      if (!(ballot.id in yes)) {
        yes[ballot.id] = default(set[int]);
      }
      if (ballot.vote == YES) {
        yes[ballot.id] += (ballot.participant);
      }
    }
    on eOutcome do (end: (id: int, outcome: tOutcome)) {
      assert !(end.id in decided), format("transaction {0} is decided twice", end.id);
      decided += (end.id);
      if (end.outcome == COMMITTED) {
        assert end.id in yes && sizeof(yes[end.id]) == size,
          format("transaction {0} is committed against a vote", end.id);
      }
    }
  }
}

// Every transaction is decided in the end.
spec Progress observes eBegin, eOutcome {
  var open: int;

  start cold state Quiet {
    on eBegin do {
      open = 1;
      goto Busy;
    }
  }

  hot state Busy {
    on eBegin do {
      open = open + 1;
    }
    on eOutcome do {
      open = open - 1;
      if (open == 0) {
        goto Quiet;
      }
    }
  }
}
