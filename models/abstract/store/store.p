// A replicated store of any number of keys and values. A client writes one value under one key, then any number of values under other
// keys, then reads the first key: it must get the value it wrote. Keys and values are types of which nothing is known but whether two
// are the same; `allways.toml` says which foreign functions return which of them.
type tKey;
type tVal;

fun TheKey(): tKey;
fun OtherKey(k: tKey): tKey;
fun AnyKey(): tKey;
fun TheVal(): tVal;
fun AnyVal(): tVal;

event eWrite: (from: machine, key: tKey, val: tVal);
event eWritten;
event eRead: (from: machine, key: tKey);
event eValue: tVal;
event eStore: (coordinator: machine, key: tKey, val: tVal);
event eStored;
event eFetch: (coordinator: machine, key: tKey);
event eFetched: tVal;

// Writes at both replicas before it answers, and reads at one of them.
machine Coordinator {
  var replicas: seq[machine];
  var client: machine;
  var missing: int;

  start state Init {
    entry {
      replicas += (0, new Replica());
      replicas += (1, new Replica());
      goto Ready;
    }
    defer eWrite, eRead;
  }

  state Ready {
    on eWrite do (write: (from: machine, key: tKey, val: tVal)) {
      client = write.from;
      missing = 2;
      send replicas[0], eStore, (coordinator = this, key = write.key, val = write.val);
      send replicas[1], eStore, (coordinator = this, key = write.key, val = write.val);
      goto Writing;
    }
    on eRead do (read: (from: machine, key: tKey)) {
      client = read.from;
      send replicas[choose(2)], eFetch, (coordinator = this, key = read.key);
      goto Reading;
    }
  }

  state Writing {
    on eStored do {
      missing = missing - 1;
      if (missing == 0) {
        send client, eWritten;
        goto Ready;
      }
    }
    defer eWrite, eRead;
  }

  state Reading {
    on eFetched do (val: tVal) {
      send client, eValue, val;
      goto Ready;
    }
    defer eWrite, eRead;
  }
}

machine Replica {
  var store: map[tKey, tVal];

  start state Serve {
    on eStore do (write: (coordinator: machine, key: tKey, val: tVal)) {
      store[write.key] = write.val;
      send write.coordinator, eStored;
    }
    on eFetch do (read: (coordinator: machine, key: tKey)) {
      send read.coordinator, eFetched, store[read.key];
    }
  }
}

machine Client {
  var store: machine;
  var k: tKey;
  var v: tVal;

  start state Init {
    entry {
      store = new Coordinator();
      k = TheKey();
      v = TheVal();
      send store, eWrite, (from = this, key = k, val = v);
    }
    on eWritten goto WriteOthers;
  }

  state WriteOthers {
    entry {
      if ($) {
        send store, eWrite, (from = this, key = OtherKey(k), val = AnyVal());
      } else {
        goto Check;
      }
    }
    on eWritten goto WriteOthers;
  }

  state Check {
    entry {
      send store, eRead, (from = this, key = k);
    }
    on eValue do (val: tVal) {
      assert val == v, "the store lost a value";
    }
  }
}

// Writes under any key, also the first one.
machine CarelessClient {
  var store: machine;
  var k: tKey;
  var v: tVal;

  start state Init {
    entry {
      store = new Coordinator();
      k = TheKey();
      v = TheVal();
      send store, eWrite, (from = this, key = k, val = v);
    }
    on eWritten goto WriteOthers;
  }

  state WriteOthers {
    entry {
      if ($) {
        send store, eWrite, (from = this, key = AnyKey(), val = AnyVal());
      } else {
        goto Check;
      }
    }
    on eWritten goto WriteOthers;
  }

  state Check {
    entry {
      send store, eRead, (from = this, key = k);
    }
    on eValue do (val: tVal) {
      assert val == v, "the store lost a value";
    }
  }
}

// Writes under another key, forgets that this was not the first one, and reads it.
machine ForgetfulClient {
  var store: machine;
  var k: tKey;

  start state Init {
    entry {
      store = new Coordinator();
      k = OtherKey(TheKey());
      send store, eWrite, (from = this, key = k, val = TheVal());
    }
    on eWritten goto Check;
  }

  state Check {
    entry {
      send store, eRead, (from = this, key = k);
    }
    on eValue do (val: tVal) {
      assert val == TheVal(), "the store lost a value";
    }
  }
}

test tcStore [main = Client]: { Client, Coordinator, Replica };
test tcCareless [main = CarelessClient]: { CarelessClient, Coordinator, Replica };
test tcForgetful [main = ForgetfulClient]: { ForgetfulClient, Coordinator, Replica };
