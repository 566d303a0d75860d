event eWord;
event eTick;
event eStop;
event eTalk: machine;

// Answers every word.
machine Echo {
    var other: machine;

    start state Silent {
        on eTalk goto Talking with (peer: machine) { other = peer; }
        defer eWord;
    }

    state Talking {
        on eWord do { send other, eWord; }
        on eStop goto Done;
        ignore eTick;
    }

    state Done { ignore eWord, eTick, eStop; }
}

// The first word begets all others.
machine Endless {
    start state Init {
        entry {
            var a: machine;
            var b: machine;
            a = new Echo();
            b = new Echo();
            send a, eTalk, b;
            send b, eTalk, a;
            send a, eWord;
        }
    }
}

// The second word is the last, if it is ever let in.
machine Stopped {
    start state Init {
        entry {
            var a: machine;
            var b: machine;
            a = new Echo();
            b = new Echo();
            send a, eTalk, b;
            send b, eTalk, a;
            send a, eWord;
            send b, eStop;
        }
    }
}

// Ticks for ever.
machine Ticker {
    start state Ticking {
        entry (whom: machine) { while (true) { send whom, eTick; } }
    }
}

machine Watched {
    start state Init {
        entry {
            var a: machine;
            a = new Echo();
            send a, eTalk, this;
            new Ticker(a);
        }
    }
}

test tcEndless [main = Endless]: { Endless, Echo };
test tcStopped [main = Stopped]: { Stopped, Echo };
test tcWatched [main = Watched]: { Watched, Echo, Ticker };
