// Chain replication of a store with thousands of records: each update touches one of them, and runs are long.
type tRecord = (count: int, tags: seq[int]);
event eUpdate: (client: Client, key: int, value: tRecord);
event eDone: int;

machine Main {
  start state Init {
    entry {
      var next: seq[Replica];
      var i: int;
      while (i < 3) { next += (0, new Replica(next)); i = i + 1; }
      new Client(next[0]);
    }
  }
}

machine Client {
  var head: Replica;
  var made: int;
  start state Run {
    entry (first: Replica) { head = first; Update(); }
    on eDone do (key: int) {
      assert key == made * 37 % 2000;
      Update();
    }
  }
  fun Update() {
    var tags: seq[int];
    made = made + 1;
    tags += (0, made);
    tags += (1, made + 1);
    send head, eUpdate, (client = this, key = made * 37 % 2000, value = (count = made, tags = tags));
  }
}

machine Replica {
  var next: seq[Replica];
  var log: seq[int];
  var records: map[int, tRecord];
  start state Serve {
    entry (after: seq[Replica]) {
      var i: int;
      next = after;
      while (i < 2000) { records[i] = (count = 0, tags = default(seq[int])); i = i + 1; }
    }
    on eUpdate do (update: (client: Client, key: int, value: tRecord)) {
      assert records[update.key].count < update.value.count;
      records[update.key] = update.value;
      log += (sizeof(log), update.key);
      if (sizeof(next) == 0) { send update.client, eDone, update.key; }
      else { send next[0], eUpdate, update; }
    }
  }
}

test Records [main = Main]: { Main, Client, Replica };
