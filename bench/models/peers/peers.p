// Two peers that hold a balance together, as in a payment channel. Each offers up to nOffers payments to the other, which accepts
// or declines; offers and answers queue up in both directions. What is checked: no peer ever has less than nothing.

param nOffers: int;

event ePeer: machine;
event eOffer: (id: int, amount: int);
event eAccept: (id: int, amount: int);
event eDecline: (id: int, amount: int);
event eTick;

machine Peer {
    var other: machine;
    var balance: int;
    var reserved: int;
    var nSent: int;
    var nAccepted: int;
    var nDeclined: int;
    var nTaken: int;

    start state Waiting {
        entry { balance = 6; }
        on ePeer do (given: machine) {
            other = given;
            goto Open;
        }
        defer eOffer, eAccept, eDecline, eTick;
    }

    state Open {
        entry { send this, eTick; }
        on eTick do {
            var amount: int;
            amount = 1 + choose(2);
            if (nSent < nOffers && balance - reserved >= amount) {
                nSent = nSent + 1;
                reserved = reserved + amount;
                send other, eOffer, (id = nSent, amount = amount);
                send this, eTick;
            }
        }
        on eOffer do (offer: (id: int, amount: int)) {
            if ($) {
                nTaken = nTaken + 1;
                balance = balance + offer.amount;
                send other, eAccept, offer;
            } else {
                send other, eDecline, offer;
            }
        }
        on eAccept do (offer: (id: int, amount: int)) {
            nAccepted = nAccepted + 1;
            reserved = reserved - offer.amount;
            balance = balance - offer.amount;
            assert balance >= 0, "spent what it did not have";
            assert nAccepted + nDeclined <= nSent;
        }
        on eDecline do (offer: (id: int, amount: int)) {
            nDeclined = nDeclined + 1;
            reserved = reserved - offer.amount;
            assert reserved >= 0;
            assert nAccepted + nDeclined <= nSent;
        }
    }
}

machine Driver {
    start state Init {
        entry {
            var a: machine;
            var b: machine;
            a = new Peer();
            b = new Peer();
            send a, ePeer, b;
            send b, ePeer, a;
        }
    }
}

test param (nOffers in [1, 2, 3, 4, 5]) tcPeers [main = Driver]: { Peer, Driver };
