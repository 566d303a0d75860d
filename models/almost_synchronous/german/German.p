// German's cache coherence protocol without an end: a directory hands out one cache line to nClients clients, shared or
// exclusive, and takes it back before it hands it out again. Each client has a processor that reads, writes and
// evicts for ever and waits for each access. The line has one bit of data, which goes with every message that matters, and
// the directory writes it through to a memory that takes its time and never answers: its inbox has no bound.
//
// A client may evict its line at the very moment when the directory asks it back. The eviction then counts as the
// answer, and the question, which finds no line any more, has none. An eviction is acknowledged.

param nClients: int;

enum tAccess { READ, WRITE, EVICT }

type tRequest = (processor: machine, kind: tAccess, word: bool);
type tWant = (client: machine, exclusive: bool);
type tReturn = (client: machine, isDirty: bool, word: bool);

// Processor and client.
event eAccess: tRequest;
event eServed;

// Client and directory.
event eWant: tWant;
event eGrantShared: bool;
event eGrantExclusive: bool;
event eInvalidate;
event eInvalidated: tReturn;
event eEvicted: tReturn;
event eEvictDone;

// Directory and memory.
event eWriteThrough: bool;
event eStore: bool;

// What the monitor hears.
event eHolds: tWant;
event eDrops: machine;
event eReads: bool;
event eWrites: bool;

machine Directory {
    var memory: machine;
    var word: bool;
    var holders: set[machine];
    var isExclusive: bool;
    // The request that waits until everybody has given the line back, and who has not.
    var wanted: tWant;
    var missing: set[machine];

    start state Begin {
        entry (given: machine) {
            memory = given;
            goto Serving;
        }
        defer eWant;
    }

    state Serving {
        on eWant do (want: tWant) {
            wanted = want;
            if (isExclusive || want.exclusive && sizeof(holders) > 0) {
                goto Recalling;
            }
            grant();
        }
        on eEvicted do (line: tReturn) {
            takeBack(line);
            send line.client, eEvictDone;
        }
    }

    state Recalling {
        entry {
            var holder: machine;
            missing = holders;
            foreach (holder in missing) {
                send holder, eInvalidate;
            }
        }
        on eInvalidated do (line: tReturn) {
            returned(line);
        }
        on eEvicted do (line: tReturn) {
            send line.client, eEvictDone;
            returned(line);
        }
        defer eWant;
    }

    fun returned(line: tReturn) {
        assert line.client in missing, "returned twice";
        missing -= (line.client);
        takeBack(line);
        if (sizeof(missing) == 0) {
            grant();
            goto Serving;
        }
    }

    fun takeBack(line: tReturn) {
        holders -= (line.client);
        isExclusive = false;
        if (line.isDirty) {
            word = line.word;
            send memory, eWriteThrough, word;
        }
    }

    fun grant() {
        var client: machine;
        client = wanted.client;
        holders += (client);
        if (wanted.exclusive) {
            isExclusive = true;
            send client, eGrantExclusive, word;
        } else {
            send client, eGrantShared, word;
        }
        wanted = default(tWant);
    }
}

machine Client {
    var directory: machine;
    var processor: machine;
    var word: bool;
    // What the processor waits for, and would write.
    var isWriting: bool;
    var news: bool;

    start state Begin {
        entry (given: machine) {
            directory = given;
            goto Invalid;
        }
        defer eAccess;
    }

    state Invalid {
        on eAccess do (access: tRequest) {
            processor = access.processor;
            if (access.kind == EVICT) {
                send processor, eServed;
            } else {
                ask(access.kind == WRITE, access.word);
                goto Asking;
            }
        }
        ignore eInvalidate;
    }

    // Asked, and holds nothing.
    state Asking {
        on eGrantShared do (current: bool) {
            word = current;
            announce eHolds, (client = this, exclusive = false);
            serve();
            goto Sharing;
        }
        on eGrantExclusive do (current: bool) {
            word = current;
            announce eHolds, (client = this, exclusive = true);
            serve();
            goto Owning;
        }
        ignore eInvalidate;
    }

    state Sharing {
        on eAccess do (access: tRequest) {
            processor = access.processor;
            if (access.kind == READ) {
                serve();
            } else if (access.kind == WRITE) {
                ask(true, access.word);
                goto Upgrading;
            } else {
                giveUp(eEvicted, false);
                goto Evicting;
            }
        }
        on eInvalidate do {
            giveUp(eInvalidated, false);
            goto Invalid;
        }
    }

    // Asked for more while sharing: the directory takes back what there is first.
    state Upgrading {
        on eInvalidate do {
            giveUp(eInvalidated, false);
            goto Asking;
        }
    }

    state Owning {
        on eAccess do (access: tRequest) {
            processor = access.processor;
            if (access.kind == EVICT) {
                giveUp(eEvicted, true);
                goto Evicting;
            }
            isWriting = access.kind == WRITE;
            news = access.word;
            serve();
        }
        on eInvalidate do {
            giveUp(eInvalidated, true);
            goto Invalid;
        }
    }

    // Gave the line back of its own accord.
    state Evicting {
        on eEvictDone do {
            send processor, eServed;
            goto Invalid;
        }
        ignore eInvalidate;
    }

    fun ask(exclusive: bool, value: bool) {
        isWriting = exclusive;
        news = value;
        send directory, eWant, (client = this, exclusive = exclusive);
    }

    // The access under way, now that the line is here.
    fun serve() {
        if (isWriting) {
            word = news;
            announce eWrites, word;
        } else {
            announce eReads, word;
        }
        isWriting = false;
        news = false;
        send processor, eServed;
    }

    fun giveUp(how: event, isDirty: bool) {
        var value: bool;
        value = word && isDirty;
        word = false;
        announce eDrops, this;
        if (how == eEvicted) {
            send directory, eEvicted, (client = this, isDirty = isDirty, word = value);
        } else {
            send directory, eInvalidated, (client = this, isDirty = isDirty, word = value);
        }
    }
}

// Reads, writes and evicts for ever.
machine Processor {
    var client: machine;

    start state Begin {
        entry (given: machine) {
            client = given;
            goto Working;
        }
    }

    state Working {
        entry {
            if ($) {
                send client, eAccess, (processor = this, kind = WRITE, word = $);
            } else if ($) {
                send client, eAccess, (processor = this, kind = READ, word = false);
            } else {
                send client, eAccess, (processor = this, kind = EVICT, word = false);
            }
        }
        on eServed goto Working;
    }
}

// Takes what comes and brings it to the bank.
machine Memory {
    var bank: machine;

    start state Storing {
        entry (given: machine) {
            bank = given;
        }
        on eWriteThrough do (value: bool) {
            send bank, eStore, value;
        }
    }
}

machine Bank {
    var word: bool;

    start state Keeping {
        on eStore do (value: bool) {
            word = value;
        }
    }
}

// Each client is created at a place of its own, so that one can tell from the program who talks to whom.
machine Computer {
    start state Begin {
        entry {
            var directory: machine;
            directory = new Directory(new Memory(new Bank()));
            new Processor(new Client(directory));
            new Processor(new Client(directory));
            if (nClients > 2) {
                new Processor(new Client(directory));
            }
        }
    }
}
