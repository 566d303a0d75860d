// n clients count themselves at a server, which keeps the set of those that did.

param n: int;

event eCount: int;
event eAll;

machine Server {
    var counted: set[int];

    start state Counting {
        on eCount do (client: int) {
            assert !(client in counted), "a client was counted twice";
            counted += (client);
            if (sizeof(counted) == n) {
                announce eAll;
            }
        }
    }
}

machine Client {
    start state Begin {
        entry (given: (server: machine, number: int)) {
            send given.server, eCount, given.number;
        }
    }
}

machine Driver {
    start state Begin {
        entry {
            var server: machine;
            var i: int;
            server = new Server();
            while (i < n) {
                new Client((server = server, number = i));
                i = i + 1;
            }
        }
    }
}

test param (n in [5, 10, 15]) tcCounter [main = Driver]: { Server, Client, Driver };
