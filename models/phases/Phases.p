// A protocol in phases, for ever: the leader of a phase is the node whose number is the remainder of the phase. It proposes a value; all others
// answer, or give up and go on to the next phase, as they do when they hear of one. A monitor records the proposals of all phases.

type tPropose = (leader: Node, phase: int, isRed: bool);

event eStart: seq[Node];
event ePropose: tPropose;
event eAck: int;
event eDecide: (phase: int, isRed: bool);

// No phase has two proposals that differ.
spec OneProposal observes eDecide {
  var proposed: map[int, bool];
  start state Watching {
    on eDecide do (decided: (phase: int, isRed: bool)) {
      if (decided.phase in proposed) {
        assert proposed[decided.phase] == decided.isRed, "two proposals in one phase";
      }
      proposed[decided.phase] = decided.isRed;
    }
  }
}

machine Node {
  var nodes: seq[Node];
  var me: int;
  var phase: int;
  var nAcks: int;
  var isRed: bool;
  var isHasty: bool;
  start state Starting {
    entry (setup: (me: int, isHasty: bool)) {
      me = setup.me;
      isHasty = setup.isHasty;
    }
    on eStart do (all: seq[Node]) {
      nodes = all;
      goto Deciding;
    }
    defer ePropose;
  }
  // Between phases.
  state Deciding {
    entry {
      phase = phase + 1;
      if (phase % 3 == me) { goto Leading; }
      goto Following;
    }
  }
  state Leading {
    entry {
      var i: int;
      nAcks = 0;
      isRed = $;
      announce eDecide, (phase = phase, isRed = isRed);
      while (i < sizeof(nodes)) {
        if (i != me) { send nodes[i], ePropose, (leader = this, phase = phase, isRed = isRed); }
        i = i + 1;
      }
    }
    on eAck do (of: int) {
      if (of == phase) { nAcks = nAcks + 1; }
      if (nAcks == 2) { goto Deciding; }
    }
    // Another leads a later phase.
    on ePropose do (propose: tPropose) {
      if (propose.phase > phase) { phase = propose.phase; }
      send propose.leader, eAck, propose.phase;
      if (propose.phase == phase) { goto Deciding; }
    }
  }
  state Following {
    on ePropose do (propose: tPropose) {
      if (propose.phase >= phase) {
        phase = propose.phase;
        send propose.leader, eAck, propose.phase;
        if (isHasty) { announce eDecide, (phase = propose.phase + 1, isRed = $); }
        goto Deciding;
      }
      send propose.leader, eAck, propose.phase;
    }
    ignore eAck;
  }
}

fun Setup(isHasty: bool) {
  var nodes: seq[Node];
  var i: int;
  while (i < 3) {
    nodes += (i, new Node((me = i, isHasty = isHasty)));
    i = i + 1;
  }
  i = 0;
  while (i < 3) {
    send nodes[i], eStart, nodes;
    i = i + 1;
  }
}

machine Patient { start state Begin { entry { Setup(false); } } }
machine Hasty { start state Begin { entry { Setup(true); } } }

test tcPatient [main = Patient]: assert OneProposal in { Patient, Node };
test tcHasty [main = Hasty]: assert OneProposal in { Hasty, Node };
