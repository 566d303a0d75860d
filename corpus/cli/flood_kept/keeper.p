// What waits is kept in a sequence once the keeper may take it: with any number of messages, any number of places.
event eItem;
event eGo;
event eCount;

machine Keeper {
    var kept: seq[int];
    start state Shut {
        defer eItem;
        on eGo goto Open;
    }
    state Open {
        on eItem do {
            kept += (sizeof(kept), sizeof(kept));
        }
        on eGo do {
            assert sizeof(kept) == 0 || kept[0] == 0;
        }
    }
}

machine Flooder {
    start state Begin {
        entry (keeper: Keeper) {
            while (true) {
                send keeper, eItem;
            }
        }
    }
}

machine Opener {
    start state Begin {
        entry (keeper: Keeper) {
            send keeper, eGo;
            send keeper, eGo;
        }
    }
}

machine Main {
    start state Begin {
        entry {
            var keeper: Keeper;
            keeper = new Keeper();
            new Flooder(keeper);
            new Opener(keeper);
        }
    }
}

test tcKeeper [main = Main]: { Main, Keeper, Flooder, Opener };
