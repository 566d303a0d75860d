// Two clients, three participants.

fun Participants(n: int): seq[machine] {
  var all: seq[machine];
  while (sizeof(all) < n) {
    all += (sizeof(all), new Participant(sizeof(all)));
  }
  return all;
}

machine TwoClients {
  start state Init {
    entry {
      var coordinator: machine;
      coordinator = new Coordinator(Participants(3));
      new Client((coordinator = coordinator, key = 1, n = 4));
      new Client((coordinator = coordinator, key = 2, n = 4));
    }
  }
}

machine HastyClients {
  start state Init {
    entry {
      var coordinator: machine;
      coordinator = new HastyCoordinator(Participants(3));
      new Client((coordinator = coordinator, key = 1, n = 4));
      new Client((coordinator = coordinator, key = 2, n = 4));
    }
  }
}

module Commit = { Coordinator, HastyCoordinator, Participant, Timer, Client };

test TwoWriters [main = TwoClients]: assert Atomicity, Progress in (union Commit, { TwoClients });
test HastyWriters [main = HastyClients]: assert Atomicity, Progress in (union Commit, { HastyClients });
