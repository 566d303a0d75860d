// Cells 0 to n hold numbers, all zero. Writer i reads cell i - 1 and writes one more than that into cell i. A reader looks for the
// last cell that is zero, from cell n down. Cell 0 is never written, so the search ends there at the latest.
// A message-passing form of the shared-memory example by Abdulla, Aronis, Jonsson and Sagonas (2014).

param n: int;

event eRead: machine;
event eWrite: int;
event eValue: int;
event eFound;

machine NumberCell {
    var number: int;

    start state Holding {
        on eRead do (reader: machine) {
            send reader, eValue, number;
        }
        on eWrite do (given: int) {
            number = given;
        }
    }
}

machine Writer {
    var target: machine;

    start state Reading {
        entry (given: (source: machine, target: machine)) {
            target = given.target;
            send given.source, eRead, this;
        }
        on eValue do (number: int) {
            send target, eWrite, number + 1;
            goto Done;
        }
    }

    state Done { }
}

machine Reader {
    var cells: seq[machine];
    var at: int;

    start state Reading {
        entry (given: seq[machine]) {
            cells = given;
            at = n;
            send cells[at], eRead, this;
        }
        on eValue do (number: int) {
            if (number == 0) {
                announce eFound;
                goto Done;
            }
            assert at > 0, "cell 0 was written";
            at = at - 1;
            send cells[at], eRead, this;
        }
    }

    state Done { }
}

machine Driver {
    start state Begin {
        entry {
            var cells: seq[machine];
            var i: int;
            while (i <= n) {
                cells += (i, new NumberCell());
                i = i + 1;
            }
            i = 1;
            while (i <= n) {
                new Writer((source = cells[i - 1], target = cells[i]));
                i = i + 1;
            }
            new Reader(cells);
        }
    }
}

test param (n in [5, 8, 10, 15, 30]) tcLastZero [main = Driver]: { NumberCell, Writer, Reader, Driver };
