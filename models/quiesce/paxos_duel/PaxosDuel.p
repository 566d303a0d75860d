// Two proposers and one acceptor. A proposer whose number was overtaken is declined; the wrong one tries again at once with a higher
// number, and the two can outbid each other for ever. The right one gives way to the proposer of higher rank.
// Numbers are serial numbers that wrap around, compared as such: only their order among the few in use matters.

event ePrepare: (proposer: machine, number: int);
event ePromise: int;
event eAccept: (proposer: machine, number: int);
event eAccepted: int;
event eDeclined: (number: int, promised: int);

fun IsHigher(a: int, b: int): bool {
    var ahead: int;
    ahead = (a - b + 8) % 8;
    return ahead > 0 && ahead < 4;
}

machine Acceptor {
    var promised: int;

    start state Listening {
        on ePrepare do (request: (proposer: machine, number: int)) {
            if (IsHigher(request.number, promised)) {
                promised = request.number;
                send request.proposer, ePromise, promised;
            } else {
                send request.proposer, eDeclined, (number = request.number, promised = promised);
            }
        }
        on eAccept do (request: (proposer: machine, number: int)) {
            if (IsHigher(promised, request.number)) {
                send request.proposer, eDeclined, (number = request.number, promised = promised);
            } else {
                send request.proposer, eAccepted, request.number;
            }
        }
    }
}

machine Proposer {
    var acceptor: machine;
    var rank: int;
    var gives_way: bool;
    var number: int;

    // Numbers of a proposer have its rank as their remainder.
    fun Propose(above: int) {
        number = (above + 1) % 8;
        if (number % 2 != rank) { number = (number + 1) % 8; }
        send acceptor, ePrepare, (proposer = this, number = number);
    }

    start state Init {
        entry (setup: (acceptor: machine, rank: int, gives_way: bool)) {
            acceptor = setup.acceptor;
            rank = setup.rank;
            gives_way = setup.gives_way;
            Propose(0);
        }
        on ePromise do (promised: int) {
            if (promised == number) { send acceptor, eAccept, (proposer = this, number = number); }
        }
        on eDeclined do (answer: (number: int, promised: int)) {
            if (answer.number != number) { return; }
            if (gives_way && rank == 0) { goto GivenWay; }
            Propose(answer.promised);
        }
        on eAccepted goto Decided;
    }

    state Decided { ignore ePromise, eDeclined, eAccepted; }
    state GivenWay { ignore ePromise, eDeclined, eAccepted; }
}

fun Duel(gives_way: bool) {
    var acceptor: machine;
    acceptor = new Acceptor();
    new Proposer((acceptor = acceptor, rank = 0, gives_way = gives_way));
    new Proposer((acceptor = acceptor, rank = 1, gives_way = gives_way));
}

machine Right { start state Init { entry { Duel(true); } } }
machine Wrong { start state Init { entry { Duel(false); } } }

test tcRight [main = Right]: { Right, Proposer, Acceptor };
test tcWrong [main = Wrong]: { Wrong, Proposer, Acceptor };
