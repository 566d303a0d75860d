// A client, a cache and a store that is sometimes busy. In the wrong version the cache tries again by itself and tells the client that it is slow,
// and the client tries again, too: every answer that the store is busy begets two requests, and they pile up. In the right version only the
// client tries again, so many times.

event eGet;
event eSlow;
event eFound;
event eFetch;
event eBusy;
event eValue;
event eServe: machine;

machine Store {
    var cache: machine;

    start state Init {
        on eServe goto Serving with (whom: machine) { cache = whom; }
        defer eFetch;
    }

    state Serving {
        on eFetch do {
            if ($) { send cache, eValue; } else { send cache, eBusy; }
        }
    }
}

machine Cache {
    var client: machine;
    var store: machine;
    var retries: bool;

    start state Serving {
        entry (setup: (client: machine, store: machine, retries: bool)) {
            client = setup.client;
            store = setup.store;
            retries = setup.retries;
            send store, eServe, this;
        }
        on eGet do { send store, eFetch; }
        on eBusy do {
            if (retries) { send store, eFetch; }
            send client, eSlow;
        }
        on eValue do { send client, eFound; }
    }
}

machine Client {
    var cache: machine;
    var n_left: int;
    var gives_up: bool;

    start state Waiting {
        entry (is_wrong: bool) {
            n_left = 2;
            gives_up = !is_wrong;
            cache = new Cache((client = this, store = new Store(), retries = is_wrong));
            send cache, eGet;
        }
        on eSlow do {
            if (gives_up) {
                if (n_left == 0) { goto Done; }
                n_left = n_left - 1;
            }
            send cache, eGet;
        }
        on eFound goto Done;
    }

    state Done { ignore eSlow, eFound; }
}

machine Right { start state Init { entry { new Client(false); } } }
machine Wrong { start state Init { entry { new Client(true); } } }

test tcRight [main = Right]: { Right, Client, Cache, Store };
test tcWrong [main = Wrong]: { Wrong, Client, Cache, Store };
