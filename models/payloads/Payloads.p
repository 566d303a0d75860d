// A driver writes buffers of random bytes to a store with two copies and reads them back, while one of the copies may fail and be
// made anew. Every byte is one of 256; no search can try them all, and none has to: what is read is compared with what was written, and
// both come from one choice.

type tBuffer = seq[int];
type tWrite = (from: machine, page: int, bytes: tBuffer);
type tRead = (from: machine, page: int);

event eWrite: tWrite;
event eWritten: int;
event eRead: tRead;
event eContent: (page: int, bytes: tBuffer);
event eStore: tWrite;
event eStored: machine;
event eFetch: tRead;
event eFail;

// Reads return what was written last.
spec ReadsReturnWrites observes eWrite, eContent {
  var pages: map[int, tBuffer];

  start state Watching {
    on eWrite do (write: tWrite) {
      pages[write.page] = write.bytes;
    }
    on eContent do (content: (page: int, bytes: tBuffer)) {
      assert content.bytes == pages[content.page],
        format("page {0} holds {1}, and {2} was written", content.page, content.bytes, pages[content.page]);
    }
  }
}

machine Driver {
  var store: machine;
  var page: int;
  var written: tBuffer;

  start state Write {
    entry (config: (store: machine, n_bytes: int)) {
      store = config.store;
      written = Bytes(config.n_bytes);
      send store, eWrite, (from = this, page = page, bytes = written);
    }
    on eWritten goto Read;
  }

  state Read {
    entry {
      send store, eRead, (from = this, page = page);
    }
    on eContent do (content: (page: int, bytes: tBuffer)) {
      var i: int;
      assert sizeof(content.bytes) == sizeof(written), "a byte is missing";
      while (i < sizeof(written)) {
        assert content.bytes[i] == written[i], format("byte {0} is another", i);
        i = i + 1;
      }
    }
  }

  fun Bytes(n: int): tBuffer {
    var bytes: tBuffer;
    while (sizeof(bytes) < n) {
      bytes += (sizeof(bytes), choose(256));
    }
    return bytes;
  }
}

// Answers when both copies have stored, and reads from either.
machine Store {
  var copies: seq[machine];
  var waits: machine;
  var n_stored: int;

  start state Serving {
    entry (config: (loses: bool, fails: bool)) {
      copies += (0, new Copy(config.loses));
      copies += (1, new Copy(false));
      if (config.fails) {
        send copies[0], eFail;
      }
    }
    on eWrite do (write: tWrite) {
      waits = write.from;
      n_stored = 0;
      send copies[0], eStore, (from = this, page = write.page, bytes = write.bytes);
      send copies[1], eStore, (from = this, page = write.page, bytes = write.bytes);
    }
    on eStored do (copy: machine) {
      n_stored = n_stored + 1;
      if (n_stored == 2) {
        send waits, eWritten, 0;
      }
    }
    on eRead do (read: tRead) {
      send copies[choose(2)], eFetch, read;
    }
  }
}

machine Copy {
  var pages: map[int, tBuffer];
  var loses: bool;

  start state Up {
    entry (losing: bool) {
      loses = losing;
    }
    on eStore do (write: tWrite) {
      pages[write.page] = write.bytes;
      if (loses && sizeof(write.bytes) > 1) {
        // The planted defect: the first byte lands where the second belongs.
        pages[write.page][1] = write.bytes[0];
      }
      send write.from, eStored, this;
    }
    on eFetch do (read: tRead) {
      send read.from, eContent, (page = read.page, bytes = pages[read.page]);
    }
    // Short of disk, but what it has written it keeps.
    on eFail goto Slow;
  }

  state Slow {
    defer eStore, eFetch;
    entry {
      if ($) {
        goto Back;
      }
      send this, eFail;
    }
    on eFail goto Back;
  }

  state Back {
    entry {
      goto Up, loses;
    }
  }
}

machine Plain {
  start state S {
    entry { new Driver((store = new Store((loses = false, fails = false)), n_bytes = 100)); }
  }
}

machine Failing {
  start state S {
    entry { new Driver((store = new Store((loses = false, fails = true)), n_bytes = 100)); }
  }
}

machine Twice {
  start state S {
    entry {
      new Driver((store = new Store((loses = false, fails = true)), n_bytes = 40));
      new Driver((store = new Store((loses = false, fails = true)), n_bytes = 60));
    }
  }
}

machine Losing {
  start state S {
    entry { new Driver((store = new Store((loses = true, fails = false)), n_bytes = 3)); }
  }
}

test tcPlain [main = Plain]: assert ReadsReturnWrites in { Plain, Driver, Store, Copy };
test tcFailing [main = Failing]: assert ReadsReturnWrites in { Failing, Driver, Store, Copy };
test tcTwice [main = Twice]: { Twice, Driver, Store, Copy };
test tcLosing [main = Losing]: assert ReadsReturnWrites in { Losing, Driver, Store, Copy };
