// A client, a coordinator and two replicas.
event newTran: machine;
event nextTran;
event commit: machine;
event vote: bool;

machine Main {
  start state Run {
    entry {
      var coordinator: machine;
      coordinator = new Coordinator(new Replica(), new Replica());
      new Client(coordinator);
    }
  }
}

machine Client {
  var coordinator: machine;
  start state Run {
    entry (other: machine) { coordinator = other; send coordinator, newTran, this; }
    on nextTran do { send coordinator, newTran, this; }
  }
}

machine Coordinator {
  var left: machine;
  var right: machine;
  var client: machine;
  var missing: int;
  start state Run {
    entry (replicas: (machine, machine)) { left = replicas.0; right = replicas.1; }
    on newTran do (from: machine) {
      client = from;
      missing = 2;
      send left, commit, this;
      send right, commit, this;
    }
    on vote do {
      missing = missing - 1;
      if (missing == 0) { send client, nextTran; }
    }
  }
}

machine Replica {
  start state Run {
    on commit do (other: machine) { send other, vote, true; }
  }
}

spec Votes observes commit, vote {
  start state Run { ignore commit, vote; }
}
