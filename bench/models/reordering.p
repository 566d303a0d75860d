// Agreement over a network machine that keeps what is sent and passes it on in any order, as models of Paxos do.
type tEnvelope = (target: machine, kind: int, ballot: int, value: int, from: int);
event eOut: tEnvelope;
event ePass;
event eMessage: (kind: int, ballot: int, value: int, from: int);
event eAcceptors: (network: Network, acceptors: seq[machine]);

machine Main {
  start state Init {
    entry {
      var network: Network;
      var acceptors: seq[machine];
      var i: int;
      network = new Network();
      while (i < 3) { acceptors += (i, new Acceptor((network = network, name = i))); i = i + 1; }
      i = 0;
      while (i < 3) {
        new Proposer((network = network, acceptors = acceptors, name = i, rounds = 160));
        i = i + 1;
      }
    }
  }
}

machine Network {
  var waiting: seq[tEnvelope];
  var is_woken: bool;
  start state Carry {
    on eOut do (envelope: tEnvelope) {
      waiting += (sizeof(waiting), envelope);
      if (!is_woken) { is_woken = true; send this, ePass; }
    }
    on ePass do {
      var at: int;
      var envelope: tEnvelope;
      at = choose(sizeof(waiting));
      envelope = waiting[at];
      waiting -= (at);
      send envelope.target, eMessage,
        (kind = envelope.kind, ballot = envelope.ballot, value = envelope.value, from = envelope.from);
      if (sizeof(waiting) > 0) { send this, ePass; } else { is_woken = false; }
    }
  }
}

machine Acceptor {
  var network: Network;
  var name: int;
  var promised: int;
  var accepted: map[int, int];
  var history: seq[(int, int)];
  var clients: map[int, machine];
  start state Serve {
    entry (setup: (network: Network, name: int)) { network = setup.network; name = setup.name; }
    on eMessage do (m: (kind: int, ballot: int, value: int, from: int)) {
      history += (sizeof(history), (m.kind, m.ballot));
      if (m.ballot >= promised) {
        promised = m.ballot;
        if (m.kind == 2) { accepted[m.ballot] = m.value; }
      }
      assert promised >= m.ballot || m.ballot < promised;
    }
  }
}

machine Proposer {
  var network: Network;
  var acceptors: seq[machine];
  var name: int;
  var round: int;
  var rounds: int;
  start state Propose {
    entry (setup: (network: Network, acceptors: seq[machine], name: int, rounds: int)) {
      network = setup.network;
      acceptors = setup.acceptors;
      name = setup.name;
      rounds = setup.rounds;
      while (round < rounds) {
        Tell(1);
        Tell(2);
        round = round + 1;
      }
    }
  }
  fun Tell(kind: int) {
    var i: int;
    while (i < sizeof(acceptors)) {
      send network, eOut,
        (target = acceptors[i], kind = kind, ballot = round * 3 + name, value = name * 100 + round, from = name);
      i = i + 1;
    }
  }
}

test Reordering [main = Main]: { Main, Network, Acceptor, Proposer };
