// A producer sends for ever, without waiting for anybody, and a consumer takes what comes: the inbox between them has no
// bound, and yet two of its sizes tell everything. Items alternate, and the consumer relies on it.

event eItem: bool;

machine Producer {
    var consumer: machine;
    var isOdd: bool;

    start state Begin {
        entry {
            consumer = new Consumer();
            goto Producing;
        }
    }

    state Producing {
        entry {
            send consumer, eItem, isOdd;
            isOdd = !isOdd;
            goto Producing;
        }
    }
}

// Sometimes forgets which kind of item came last. A mutant.
machine ForgetfulProducer {
    var consumer: machine;
    var isOdd: bool;

    start state Begin {
        entry {
            consumer = new Consumer();
            goto Producing;
        }
    }

    state Producing {
        entry {
            send consumer, eItem, isOdd;
            isOdd = $;
            goto Producing;
        }
    }
}

machine Consumer {
    var expected: bool;

    start state Consuming {
        on eItem do (isOdd: bool) {
            assert isOdd == expected, "an item of the wrong kind";
            expected = !expected;
        }
    }
}

// The same, seen on the way.
spec Alternating observes eItem {
    var expected: bool;

    start state Watching {
        on eItem do (isOdd: bool) {
            assert isOdd == expected, "an item of the wrong kind is sent";
            expected = !expected;
        }
    }
}

test tcProducer [main=Producer]: assert Alternating in { Producer, Consumer };
test tcForgetfulProducer [main=ForgetfulProducer]: { ForgetfulProducer, Consumer };
