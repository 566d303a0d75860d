// An endless source, a relay that hands on what it gets, and a sink: two inboxes without bound, one behind the other.
// Delivering to the relay while it is about to send is allowed, leads nowhere new, and never ends.

event eIncoming;
event eOutgoing;
event eClosing;

// Who creates a machine may speak in its name, as far as the analysis knows; so the source, which never rests, creates
// none.
machine Pipeline {
    start state Begin {
        entry {
            new Source(new Relay(new Sink()));
        }
    }
}

machine Source {
    var relay: machine;

    start state Begin {
        entry (given: machine) {
            relay = given;
            goto Sending;
        }
    }

    state Sending {
        entry {
            send relay, eIncoming;
            goto Sending;
        }
    }
}

machine Relay {
    var sink: machine;

    start state Relaying {
        entry (given: machine) {
            sink = given;
        }
        on eIncoming do {
            send sink, eOutgoing;
        }
    }
}

// Closes the sink at some moment and goes on all the same. A mutant.
machine RestlessRelay {
    var sink: machine;
    var isClosed: bool;

    start state Relaying {
        entry (given: machine) {
            sink = given;
        }
        on eIncoming do {
            if (!isClosed && $) {
                isClosed = true;
                send sink, eClosing;
            }
            send sink, eOutgoing;
        }
    }
}

machine Sink {
    start state Open {
        on eOutgoing do { }
        on eClosing goto Closed;
    }

    state Closed { }
}

// Nothing leaves the relay after it has closed the sink.
spec NothingAfterTheEnd observes eOutgoing, eClosing {
    start state Running {
        on eOutgoing do { }
        on eClosing goto Ended;
    }

    state Ended {
        on eOutgoing do {
            assert false, "something is sent to a closed sink";
        }
    }
}

test tcRelay [main=Pipeline]: assert NothingAfterTheEnd in { Pipeline, Source, Relay, Sink };
test tcRestlessRelay [main=Pipeline]: assert NothingAfterTheEnd in { Pipeline, Source, RestlessRelay -> Relay, Sink };
