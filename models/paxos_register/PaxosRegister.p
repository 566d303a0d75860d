// A register kept by single-decree Paxos: nServers servers, which are proposers and acceptors at once, and nClients
// clients, each of which puts a value of its own at one server and then gets the value from the next. Meant for a network
// that delivers in any order (`--network bag`). What is checked: the history of puts and gets is linearizable.
//
// A ballot is a round and a server, as one number: round * nServers + server. Values are the numbers of their clients, from
// 1; zero is none. No message comes twice, so answers are counted, not collected.

param nClients: int;
param nServers: int;

// What a client asks for, and its value.
type tRequest = (client: machine, number: int);
type tPrepare = (ballot: int, from: machine);
type tPrepared = (ballot: int, acceptedBallot: int, accepted: tRequest);
type tAccept = (ballot: int, proposal: tRequest, from: machine);

event eSetup: (servers: seq[machine], self: int, driver: machine);
event eReady;
event ePut: tRequest;
event ePutOk;
event eGet: tRequest;
event eGetOk: int;
event ePrepare: tPrepare;
event ePrepared: tPrepared;
event eAccept: tAccept;
event eAccepted: int;
event eDecided: tRequest;

// What the monitor hears besides: the client has got a value.
event eGot: (number: int, value: int);

machine Server {
    var peers: seq[machine];
    var self: int;
    var ballot: int;
    // As a proposer.
    var proposal: tRequest;
    var nPrepared: int;
    var highest: int;
    var nAccepted: int;
    // As an acceptor.
    var acceptedBallot: int;
    var accepted: tRequest;

    start state Begin {
        on eSetup do (setup: (servers: seq[machine], self: int, driver: machine)) {
            var server: machine;
            self = setup.self;
            foreach (server in setup.servers) {
                if (server != this) {
                    peers += (sizeof(peers), server);
                }
            }
            send setup.driver, eReady;
            goto Open;
        }
    }

    state Open {
        on ePut do (put: tRequest) {
            var peer: machine;
            if (proposal.number == 0) {
                proposal = put;
                ballot = (ballot / nServers + 1) * nServers + self;
                nPrepared = 1;
                highest = acceptedBallot;
                if (accepted.number != 0) {
                    proposal = accepted;
                }
                foreach (peer in peers) {
                    send peer, ePrepare, (ballot = ballot, from = this);
                }
            }
        }
        on ePrepare do (prepare: tPrepare) {
            if (prepare.ballot > ballot) {
                ballot = prepare.ballot;
                send prepare.from, ePrepared,
                    (ballot = ballot, acceptedBallot = acceptedBallot, accepted = accepted);
            }
        }
        on ePrepared do (prepared: tPrepared) {
            var peer: machine;
            if (prepared.ballot == ballot) {
                nPrepared = nPrepared + 1;
                if (prepared.acceptedBallot > highest && 2 * nPrepared <= nServers + 1) {
                    highest = prepared.acceptedBallot;
                    proposal = prepared.accepted;
                }
                if (nPrepared == nServers / 2 + 1) {
                    acceptedBallot = ballot;
                    accepted = proposal;
                    nAccepted = 1;
                    foreach (peer in peers) {
                        send peer, eAccept, (ballot = ballot, proposal = proposal, from = this);
                    }
                }
            }
        }
        on eAccept do (accept: tAccept) {
            if (accept.ballot >= ballot) {
                ballot = accept.ballot;
                acceptedBallot = accept.ballot;
                accepted = accept.proposal;
                send accept.from, eAccepted, accept.ballot;
            }
        }
        on eAccepted do (given: int) {
            var peer: machine;
            if (given == ballot) {
                nAccepted = nAccepted + 1;
                if (nAccepted == nServers / 2 + 1) {
                    foreach (peer in peers) {
                        send peer, eDecided, proposal;
                    }
                    send proposal.client, ePutOk;
                    goto Decided, proposal.number;
                }
            }
        }
        on eDecided do (decided: tRequest) {
            goto Decided, decided.number;
        }
        // There is nothing to say yet.
        defer eGet;
    }

    state Decided {
        entry (given: int) {
            value = given;
        }
        on eGet do (get: tRequest) {
            send get.client, eGetOk, value;
        }
        ignore ePut, ePrepare, ePrepared, eAccept, eAccepted, eDecided;
    }

    var value: int;
}

machine Client {
    var number: int;
    var next: machine;

    start state Putting {
        entry (given: (servers: seq[machine], number: int)) {
            number = given.number;
            next = given.servers[number % nServers];
            send given.servers[(number - 1) % nServers], ePut, (client = this, number = number);
        }
        on ePutOk goto Getting;
    }

    state Getting {
        entry {
            send next, eGet, (client = this, number = number);
        }
        on eGetOk do (value: int) {
            announce eGot, (number = number, value = value);
        }
        // Whoever decides says so.
        ignore ePutOk;
    }
}

machine Driver {
    var servers: seq[machine];
    var nReady: int;

    start state Begin {
        entry {
            var i: int;
            while (i < nServers) {
                servers += (i, new Server());
                i = i + 1;
            }
            i = 0;
            while (i < nServers) {
                send servers[i], eSetup, (servers = servers, self = i, driver = this);
                i = i + 1;
            }
        }
        on eReady do {
            var i: int;
            nReady = nReady + 1;
            if (nReady == nServers) {
                while (i < nClients) {
                    i = i + 1;
                    new Client((servers = servers, number = i));
                }
            }
        }
    }
}

// Which order of effects may explain what was seen, as a set of worlds: the value of the register, and of each client
// whether its put has taken effect (1), or also its get, and with which value (2 and the value). A world is a number, and
// the set a sequence in order, so that equal sets are equal.
spec Linearizable observes ePut, eGet, eGot {
    var worlds: seq[int];
    // By client: 1, it is putting; 2, it is getting; 3, it has got.
    var stages: seq[int];

    start state Watching {
        entry {
            while (sizeof(stages) < nClients) {
                stages += (sizeof(stages), 0);
            }
            worlds += (0, 0);
        }
        on ePut do (put: tRequest) {
            stages[put.number - 1] = 1;
        }
        // The client's put has returned.
        on eGet do (get: tRequest) {
            goOn();
            keep(get.number, 1, nClients + 2);
            stages[get.number - 1] = 2;
        }
        on eGot do (got: (number: int, value: int)) {
            goOn();
            keep(got.number, 2 + got.value, 2 + got.value);
            stages[got.number - 1] = 3;
            assert sizeof(worlds) > 0, format("client {0} got {1}, which no order of effects explains", got.number, got.value);
        }
    }

    // What a unit of the client's part of a world is worth.
    fun unit(number: int): int {
        var i: int;
        var worth: int;
        worth = nClients + 1;
        while (i < number - 1) {
            worth = worth * (nClients + 3);
            i = i + 1;
        }
        return worth;
    }

    fun part(world: int, number: int): int {
        return (world / unit(number)) % (nClients + 3);
    }

    // Adds all worlds in which pending operations have taken effect.
    fun goOn() {
        var at: int;
        var number: int;
        var world: int;
        var open: seq[int];
        open = worlds;
        while (at < sizeof(open)) {
            world = open[at];
            at = at + 1;
            number = 1;
            while (number <= nClients) {
                if (stages[number - 1] == 1 && part(world, number) == 0) {
                    open = joined(open, world - world % (nClients + 1) + number + unit(number));
                }
                if (stages[number - 1] == 2 && part(world, number) == 1) {
                    open = joined(open, world + (1 + world % (nClients + 1)) * unit(number));
                }
                number = number + 1;
            }
        }
        worlds = sorted(open);
    }

    fun joined(known: seq[int], world: int): seq[int] {
        var other: int;
        foreach (other in known) {
            if (other == world) {
                return known;
            }
        }
        known += (sizeof(known), world);
        return known;
    }

    fun sorted(given: seq[int]): seq[int] {
        var result: seq[int];
        var world: int;
        var at: int;
        foreach (world in given) {
            at = 0;
            while (at < sizeof(result) && result[at] < world) {
                at = at + 1;
            }
            result += (at, world);
        }
        return result;
    }

    // Keeps the worlds in which the part of the client is within these.
    fun keep(number: int, low: int, high: int) {
        var old: seq[int];
        var world: int;
        old = worlds;
        worlds = default(seq[int]);
        foreach (world in old) {
            if (part(world, number) >= low && part(world, number) <= high) {
                worlds += (sizeof(worlds), world);
            }
        }
    }
}

test param (nClients in [1, 2, 3], nServers in [3]) tcLinearizable [main=Driver]:
    assert Linearizable in { Driver, Server, Client };
