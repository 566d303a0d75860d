// Who holds the line exclusively is alone with it, and a read sees what was written last.
spec Coherent observes eHolds, eDrops, eReads, eWrites {
    var sharers: set[machine];
    var owner: machine;
    var word: bool;

    start state Watching {
        on eHolds do (hold: tWant) {
            assert owner == null, "somebody else owns the line";
            if (hold.exclusive) {
                assert sizeof(sharers) == 0, "somebody else shares the line";
                owner = hold.client;
            } else {
                sharers += (hold.client);
            }
        }
        on eDrops do (client: machine) {
            if (owner == client) {
                owner = null as machine;
            }
            sharers -= (client);
        }
        on eWrites do (value: bool) {
            word = value;
        }
        on eReads do (value: bool) {
            assert value == word, "a read of something that was overwritten";
        }
    }
}

module German = { Computer, Processor, Memory, Bank };

test param (nClients in [2, 3]) tcCoherent [main=Computer]: assert Coherent in (union German, { Client, Directory });
test param (nClients in [2, 3]) tcTalkativeClient [main=Computer]:
    assert Coherent in (union German, { TalkativeClient -> Client, Directory });
test param (nClients in [2, 3]) tcHastyDirectory [main=Computer]:
    assert Coherent in (union German, { Client, HastyDirectory -> Directory });
