// A monitor with history that nobody else keeps. Tellers pay into accounts, and a branch acknowledges each payment. The spec remembers the last
// amount that each account was paid, and the last two accounts; the branch and the tellers forget them.

param nTellers: int;

event ePay: (account: int, amount: int, from: machine);
event ePaid: (account: int, amount: int);
event eReceipt: int;

machine Branch {
    start state Open {
        on ePay do (pay: (account: int, amount: int, from: machine)) {
            announce ePaid, (account = pay.account, amount = pay.amount);
            send pay.from, eReceipt, pay.amount;
        }
    }
}

machine Teller {
    var branch: machine;
    var account: int;

    start state Paying {
        entry (given: (branch: machine, account: int)) {
            branch = given.branch;
            account = given.account;
            pay();
        }
        on eReceipt do (amount: int) { pay(); }
    }

    fun pay() { send branch, ePay, (account = account, amount = 1 + choose(9), from = this); }
}

spec Audit observes ePaid {
    var first: int;
    var second: int;
    var third: int;
    var fourth: int;
    var fifth: int;
    var sixth: int;
    var latest: int;
    var beforeLatest: int;

    start state Watching {
        on ePaid do (paid: (account: int, amount: int)) {
            assert paid.amount > 0 && paid.amount < 10, "no such amount";
            if (paid.account == 0) { first = limited(first, paid.amount); }
            if (paid.account == 1) { second = limited(second, paid.amount); }
            if (paid.account == 2) { third = limited(third, paid.amount); }
            if (paid.account == 3) { fourth = limited(fourth, paid.amount); }
            if (paid.account == 4) { fifth = limited(fifth, paid.amount); }
            if (paid.account == 5) { sixth = limited(sixth, paid.amount); }
            beforeLatest = latest;
            latest = paid.account;
            assert beforeLatest < nTellers, "no such account";
        }
    }

    fun limited(before: int, amount: int): int {
        assert before + amount < 19, "too much at once";
        return amount;
    }
}

machine Driver {
    start state Init {
        entry {
            var branch: machine;
            var i: int;
            branch = new Branch();
            while (i < nTellers) {
                new Teller((branch = branch, account = i));
                i = i + 1;
            }
        }
    }
}

test param (nTellers in [2, 3, 4, 5, 6]) tcAudit [main = Driver]: assert Audit in { Branch, Teller, Driver };
