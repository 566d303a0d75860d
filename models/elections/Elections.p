// Nodes stand for election in one term after the other and ask all others for their votes; all answer. A node gives one vote in a term, and goes on to
// a later term when it hears of one. A monitor records the leader of every term, and terms grow for ever.

type tAsk = (candidate: Node, term: int);
type tReply = (term: int, isGranted: bool);

event eStart: seq[Node];
event eAsk: tAsk;
event eReply: tReply;
event eLead: (term: int, leader: Node);

spec OneLeader observes eLead {
  var leaders: map[int, Node];
  start state Watching {
    on eLead do (lead: (term: int, leader: Node)) {
      if (lead.term in leaders) {
        assert leaders[lead.term] == lead.leader, "two leaders in one term";
      }
      leaders[lead.term] = lead.leader;
    }
  }
}

machine Node {
  var others: seq[Node];
  var term: int;
  // The last term in which it gave its vote.
  var voted: int;
  var isLoose: bool;
  // The term in which it stands.
  var stood: int;
  var nReplies: int;
  var nVotes: int;
  start state Starting {
    entry (loose: bool) {
      isLoose = loose;
      voted = -1;
    }
    on eStart do (nodes: seq[Node]) {
      others = nodes;
      goto Following;
    }
    defer eAsk;
  }
  state Following {
    entry {
      if ($) { goto Standing; }
    }
    on eAsk do (ask: tAsk) {
      Answer(ask);
      goto Following;
    }
  }
  state Standing {
    entry {
      var i: int;
      nReplies = 0;
      nVotes = 1;
      term = term + 1;
      voted = term;
      stood = term;
      while (i < sizeof(others)) {
        send others[i], eAsk, (candidate = this, term = term);
        i = i + 1;
      }
    }
    on eReply do (reply: tReply) {
      nReplies = nReplies + 1;
      if (reply.isGranted && reply.term == stood) { nVotes = nVotes + 1; }
      if (nReplies == sizeof(others)) {
        if (nVotes * 2 > sizeof(others) + 1) { announce eLead, (term = stood, leader = this); }
        goto Following;
      }
    }
    on eAsk do (ask: tAsk) { Answer(ask); }
  }
  fun Answer(ask: tAsk) {
    var isGranted: bool;
    isGranted = ask.term > voted || isLoose && ask.term == voted;
    if (isGranted) { voted = ask.term; }
    if (ask.term > term) { term = ask.term; }
    send ask.candidate, eReply, (term = ask.term, isGranted = isGranted);
  }
}

fun Connect(n: int, isLoose: bool) {
  var nodes: seq[Node];
  var others: seq[Node];
  var i: int;
  while (i < n) {
    nodes += (i, new Node(isLoose));
    i = i + 1;
  }
  i = 0;
  while (i < n) {
    others = nodes;
    others -= (i);
    send nodes[i], eStart, others;
    i = i + 1;
  }
}

machine Pair {
  start state Setup { entry { Connect(2, false); } }
}

machine Three {
  start state Setup { entry { Connect(3, false); } }
}

machine LooseThree {
  start state Setup { entry { Connect(3, true); } }
}

test tcPair [main = Pair]: assert OneLeader in { Pair, Node };
test tcThree [main = Three]: assert OneLeader in { Three, Node };
test tcDoubleVote [main = LooseThree]: assert OneLeader in { LooseThree, Node };
