// What can go wrong when a line is evicted and asked back at the same time.

// Answers the directory also when the line is gone. A mutant.
machine TalkativeClient {
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
        on eInvalidate do {
            send directory, eInvalidated, (client = this, isDirty = false, word = false);
        }
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
        on eInvalidate do {
            send directory, eInvalidated, (client = this, isDirty = false, word = false);
        }
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

// Grants before it has looked at what the owner returned. A mutant.
machine HastyDirectory {
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
        holders -= (line.client);
        isExclusive = false;
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
