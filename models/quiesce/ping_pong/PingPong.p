// Messages that answer each other: between two players, and between tasks that take turns at one table.

event eBall;
event eStart: machine;
event ePing;
event ePong;
event ePung;

// Hits every ball back; one that gets tired, so many of them.
machine Player {
    var other: machine;
    var gets_tired: bool;
    var strength: int;

    start state Waiting {
        entry (is_weak: bool) {
            gets_tired = is_weak;
            strength = 3;
        }
        on eStart goto Playing with (partner: machine) { other = partner; }
        defer eBall;
    }

    state Playing {
        on eBall do {
            if (gets_tired) {
                if (strength == 0) { return; }
                strength = strength - 1;
            }
            send other, eBall;
        }
    }
}

fun Play(is_weak: bool) {
    var left: machine;
    var right: machine;
    left = new Player(false);
    right = new Player(is_weak);
    send left, eStart, right;
    send right, eStart, left;
    send left, eBall;
}

machine EndlessMatch {
    start state Init { entry { Play(false); } }
}

machine FiniteMatch {
    start state Init { entry { Play(true); } }
}

// Two tasks that post themselves again when it is their turn. The count of turns goes round, so that a loop has to be as long.
machine Table {
    var is_pongs_turn: bool;
    var turns: int;
    var modulus: int;

    start state Init {
        entry (m: int) {
            modulus = m;
            send this, ePing;
            send this, ePong;
        }
        on ePing do {
            turns = (turns + 1) % modulus;
            if (!is_pongs_turn) {
                is_pongs_turn = true;
                send this, ePing;
            }
        }
        on ePong do {
            if (is_pongs_turn) {
                is_pongs_turn = false;
                send this, ePong;
            }
        }
    }
}

machine Tables1 { start state Init { entry { new Table(1); } } }
machine Tables2 { start state Init { entry { new Table(2); } } }
machine Tables3 { start state Init { entry { new Table(3); } } }

// Each of three tasks posts the one before it, and hands the turn on to the one behind it.
machine ThreeTasks {
    var turn: int;

    start state Init {
        entry {
            send this, ePing;
            send this, ePong;
            send this, ePung;
        }
        on ePing do { if (turn == 0) { turn = 1; send this, ePung; } }
        on ePong do { if (turn == 1) { turn = 2; send this, ePing; } }
        on ePung do { if (turn == 2) { turn = 0; send this, ePong; } }
    }
}

test tcEndless [main = EndlessMatch]: { EndlessMatch, Player };
test tcFinite [main = FiniteMatch]: { FiniteMatch, Player };
test tcPingPong [main = Tables1]: { Tables1, Table };
test tcPingPongMod2 [main = Tables2]: { Tables2, Table };
test tcPingPongMod3 [main = Tables3]: { Tables3, Table };
test tcPingPongPung [main = ThreeTasks]: { ThreeTasks };
