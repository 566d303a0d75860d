// Two-phase commit with a timer. The coordinator asks all participants to prepare, commits when all vote yes before
// the timer fires, and aborts otherwise.

enum tVote { YES, NO }
enum tOutcome { COMMITTED, ABORTED }

type tTransaction = (id: int, key: int, value: int);
type tBallot = (id: int, participant: int, vote: tVote);

event eBegin: (client: machine, transaction: tTransaction);
event eOutcome: (id: int, outcome: tOutcome);
event ePrepare: (coordinator: machine, transaction: tTransaction);
event eBallot: tBallot;
event eCommit: int;
event eAbort: int;
event eRead: (client: machine, key: int);
event eValue: (key: int, value: int, known: bool);
event eStartTimer;
event eCancelTimer;
event eTimeOut;
event eTimerCancelled;
event eAnnounceSize: int;

// Fires whenever it likes after it was started. A cancelled timer answers, or has fired already.
machine Timer {
  var owner: machine;

  start state Init {
    entry (of: machine) {
      owner = of;
      goto Off;
    }
  }

  state Off {
    on eStartTimer goto On;
    on eCancelTimer do {
      send owner, eTimerCancelled;
    }
  }

  state On {
    entry {
      send this, eTimeOut;
    }
    on eTimeOut do {
      if ($) {
        send owner, eTimeOut;
        goto Off;
      }
      send this, eTimeOut;
    }
    on eCancelTimer do {
      send owner, eTimerCancelled;
      goto Draining;
    }
    ignore eStartTimer;
  }

  // The tick on the way to ourselves has to pass.
  state Draining {
    on eTimeOut goto Off;
    defer eStartTimer, eCancelTimer;
  }
}

machine Participant {
  var me: int;
  var store: map[int, int];
  var prepared: map[int, tTransaction];

  start state Serve {
    entry (number: int) {
      me = number;
    }
    on ePrepare do (prepare: (coordinator: machine, transaction: tTransaction)) {
      if ($) {
        prepared[prepare.transaction.id] = prepare.transaction;
        send prepare.coordinator, eBallot, (id = prepare.transaction.id, participant = me, vote = YES);
      } else {
        send prepare.coordinator, eBallot, (id = prepare.transaction.id, participant = me, vote = NO);
      }
    }
    on eCommit do (id: int) {
      assert id in prepared, format("participant {0} has not prepared {1}", me, id);
      store[prepared[id].key] = prepared[id].value;
      prepared -= (id);
    }
    on eAbort do (id: int) {
      if (id in prepared) {
        prepared -= (id);
      }
    }
    on eRead do (read: (client: machine, key: int)) {
      if (read.key in store) {
        send read.client, eValue, (key = read.key, value = store[read.key], known = true);
      } else {
        send read.client, eValue, (key = read.key, value = 0, known = false);
      }
    }
  }
}

machine Coordinator {
  var participants: seq[machine];
  var timer: machine;
  var client: machine;
  var transaction: tTransaction;
  var yes: int;
  var next: int;

  start state Init {
    entry (all: seq[machine]) {
      participants = all;
      timer = new Timer(this);
      announce eAnnounceSize, sizeof(all);
      goto Ready;
    }
  }

  state Ready {
    on eBegin do (begin: (client: machine, transaction: tTransaction)) {
      var participant: machine;
      client = begin.client;
      transaction = begin.transaction;
      transaction.id = next;
      next = next + 1;
      yes = 0;
      foreach (participant in participants) {
        send participant, ePrepare, (coordinator = this, transaction = transaction);
      }
      send timer, eStartTimer;
      goto Voting;
    }
    on eRead do (read: (client: machine, key: int)) {
      send choose(participants), eRead, read;
    }
    ignore eBallot;
  }

  state Voting {
    defer eBegin, eRead;
    on eBallot do (ballot: tBallot) {
      if (ballot.id != transaction.id) {
        return;
      }
      if (ballot.vote == NO) {
        Decide(ABORTED);
        send timer, eCancelTimer;
        goto Stopping;
      }
      yes = yes + 1;
      if (yes == sizeof(participants)) {
        Decide(COMMITTED);
        send timer, eCancelTimer;
        goto Stopping;
      }
    }
    on eTimeOut do {
      Decide(ABORTED);
      goto Ready;
    }
  }

  // Until the timer has answered, or has fired at the last moment and answers then.
  state Stopping {
    defer eBegin, eRead;
    ignore eBallot, eTimeOut;
    on eTimerCancelled goto Ready;
  }

  fun Decide(outcome: tOutcome) {
    var participant: machine;
    foreach (participant in participants) {
      if (outcome == COMMITTED) {
        send participant, eCommit, transaction.id;
      } else {
        send participant, eAbort, transaction.id;
      }
    }
    send client, eOutcome, (id = transaction.id, outcome = outcome);
  }
}

// Commits as soon as one more than half voted yes, as if that were consensus. A mutant.
machine HastyCoordinator {
  var participants: seq[machine];
  var client: machine;
  var transaction: tTransaction;
  var yes: int;
  var next: int;

  start state Init {
    entry (all: seq[machine]) {
      participants = all;
      announce eAnnounceSize, sizeof(all);
      goto Ready;
    }
  }

  state Ready {
    on eBegin do (begin: (client: machine, transaction: tTransaction)) {
      var participant: machine;
      client = begin.client;
      transaction = begin.transaction;
      transaction.id = next;
      next = next + 1;
      yes = 0;
      foreach (participant in participants) {
        send participant, ePrepare, (coordinator = this, transaction = transaction);
      }
      goto Voting;
    }
    on eRead do (read: (client: machine, key: int)) {
      send choose(participants), eRead, read;
    }
    ignore eBallot;
  }

  state Voting {
    defer eBegin, eRead;
    on eBallot do (ballot: tBallot) {
      var participant: machine;
      if (ballot.id != transaction.id) {
        return;
      }
      if (ballot.vote == NO) {
        foreach (participant in participants) {
          send participant, eAbort, transaction.id;
        }
        send client, eOutcome, (id = transaction.id, outcome = ABORTED);
        goto Ready;
      }
      yes = yes + 1;
      if (yes * 2 > sizeof(participants)) {
        foreach (participant in participants) {
          send participant, eCommit, transaction.id;
        }
        send client, eOutcome, (id = transaction.id, outcome = COMMITTED);
        goto Ready;
      }
    }
  }
}

machine Client {
  var coordinator: machine;
  var key: int;
  var left: int;
  var value: int;

  start state Init {
    entry (setup: (coordinator: machine, key: int, n: int)) {
      coordinator = setup.coordinator;
      key = setup.key;
      left = setup.n;
      goto Write;
    }
  }

  state Write {
    entry {
      if (left == 0) {
        goto Done;
      }
      left = left - 1;
      value = choose(100);
      send coordinator, eBegin, (client = this, transaction = (id = 0, key = key, value = value));
    }
    on eOutcome do (end: (id: int, outcome: tOutcome)) {
      if (end.outcome == COMMITTED) {
        goto Check;
      }
      goto Write;
    }
  }

  state Check {
    entry {
      send coordinator, eRead, (client = this, key = key);
    }
    on eValue do (answer: (key: int, value: int, known: bool)) {
      assert answer.known && answer.value == value,
        format("key {0} should be {1} and is {2}", key, value, answer.value);
      goto Write;
    }
  }

  state Done { }
}
