// Two replicas with a log of entries, each with an index and the term of the leader that wrote it. The leader writes the next entry, sends it with the term of
// the entry before, and commits it when the other has it; then it may step down, and the other leads the next term. Terms and indices grow
// for ever, and so do the logs and the record of a monitor, of which only the last entries matter.

type tAppend = (term: int, index: int, before: int, leader: Replica);

event ePeer: (peer: Replica, leads: bool);
event eAppend: tAppend;
event eAppended: int;
event eLead: (term: int, index: int);
event eCommitted: (index: int, term: int);

// An index is committed once, with a term no older than that of the index before.
spec Agreement observes eCommitted {
  var terms: map[int, int];
  var last: int;
  start state Watching {
    on eCommitted do (committed: (index: int, term: int)) {
      if (committed.index in terms) {
        assert terms[committed.index] == committed.term, "another entry was committed there";
      }
      if ((committed.index - 1) in terms) {
        assert terms[committed.index - 1] <= committed.term, "an older term follows a newer one";
      }
      terms[committed.index] = committed.term;
      last = committed.index;
    }
  }
}

machine Replica {
  var peer: Replica;
  var log: map[int, int];
  var term: int;
  var index: int;
  var isStubborn: bool;
  start state Starting {
    entry (stubborn: bool) { isStubborn = stubborn; }
    on ePeer do (setup: (peer: Replica, leads: bool)) {
      peer = setup.peer;
      log[index] = term;
      if (setup.leads) {
        term = term + 1;
        goto Leading;
      }
      goto Following;
    }
    defer eAppend;
  }
  state Leading {
    entry { Append(); }
    on eAppended do (acked: int) {
      if (acked == index) {
        announce eCommitted, (index = index, term = term);
        if ($) {
          send peer, eLead, (term = term, index = index);
          if (isStubborn) {
            // It writes one more entry, and does not wait for the other.
            index = index + 1;
            log[index] = term;
            announce eCommitted, (index = index, term = term);
          }
          goto Following;
        }
        Append();
      }
    }
    ignore eLead, eAppend;
  }
  state Following {
    on eAppend do (append: tAppend) {
      if (append.term < term) { return; }
      assert (append.index - 1) in log && log[append.index - 1] == append.before, "a gap in the log";
      term = append.term;
      index = append.index;
      log[index] = term;
      send append.leader, eAppended, index;
    }
    on eLead do (lead: (term: int, index: int)) {
      term = lead.term + 1;
      goto Leading;
    }
    ignore eAppended;
  }
  fun Append() {
    var before: int;
    before = log[index];
    index = index + 1;
    log[index] = term;
    send peer, eAppend, (term = term, index = index, before = before, leader = this);
  }
}

fun Setup(isStubborn: bool) {
  var one: Replica;
  var other: Replica;
  one = new Replica(isStubborn);
  other = new Replica(isStubborn);
  send one, ePeer, (peer = other, leads = true);
  send other, ePeer, (peer = one, leads = false);
}

machine Pair { start state Begin { entry { Setup(false); } } }
machine StubbornPair { start state Begin { entry { Setup(true); } } }

test tcPair [main = Pair]: assert Agreement in { Pair, Replica };
test tcStubborn [main = StubbornPair]: assert Agreement in { StubbornPair, Replica };
