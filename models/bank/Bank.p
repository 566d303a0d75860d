// A bank: clients withdraw money through a teller, which keeps the accounts in a ledger machine.

type tWithdraw = (client: machine, account: int, amount: int, ticket: int);
type tReceipt = (ticket: int, account: int, balance: int, granted: bool);
type tRead = (teller: machine, account: int, ticket: int);
type tBalance = (account: int, balance: int, ticket: int);
type tWrite = (account: int, balance: int);

event eWithdraw: tWithdraw;
event eReceipt: tReceipt;
event eReadAccount: tRead;
event eBalance: tBalance;
event eWriteAccount: tWrite;
event eOpenAccount: (account: int, balance: int);

// Keeps the balances, and never says no.
machine Ledger {
  var balances: map[int, int];

  start state Serve {
    entry (initial: map[int, int]) {
      balances = initial;
    }
    on eReadAccount do (read: tRead) {
      send read.teller, eBalance,
        (account = read.account, balance = balances[read.account], ticket = read.ticket);
    }
    on eWriteAccount do (write: tWrite) {
      balances[write.account] = write.balance;
    }
  }
}

// Grants a withdrawal when at least the minimum stays on the account.
machine Teller {
  var ledger: machine;
  var minimum: int;
  var request: tWithdraw;

  start state Init {
    entry (setup: (initial: map[int, int], minimum: int)) {
      ledger = new Ledger(setup.initial);
      minimum = setup.minimum;
      goto Ready;
    }
  }

  state Ready {
    on eWithdraw do (withdraw: tWithdraw) {
      request = withdraw;
      send ledger, eReadAccount, (teller = this, account = withdraw.account, ticket = withdraw.ticket);
      goto Asking;
    }
  }

  state Asking {
    defer eWithdraw;
    on eBalance do (answer: tBalance) {
      var rest: int;
      rest = answer.balance - request.amount;
      if (rest >= minimum) {
        send ledger, eWriteAccount, (account = answer.account, balance = rest);
        send request.client, eReceipt,
          (ticket = answer.ticket, account = answer.account, balance = rest, granted = true);
      } else {
        send request.client, eReceipt,
          (ticket = answer.ticket, account = answer.account, balance = answer.balance, granted = false);
      }
      goto Ready;
    }
  }
}

// Takes the next request before the last one is settled, so that a balance it was told may be stale. A mutant.
machine HastyTeller {
  var ledger: machine;
  var minimum: int;
  var waiting: map[int, tWithdraw];

  start state Ready {
    entry (setup: (initial: map[int, int], minimum: int)) {
      ledger = new Ledger(setup.initial);
      minimum = setup.minimum;
    }
    on eWithdraw do (withdraw: tWithdraw) {
      waiting[withdraw.ticket] = withdraw;
      send ledger, eReadAccount, (teller = this, account = withdraw.account, ticket = withdraw.ticket);
    }
    on eBalance do (answer: tBalance) {
      var rest: int;
      var request: tWithdraw;
      request = waiting[answer.ticket];
      waiting -= (answer.ticket);
      rest = answer.balance - request.amount;
      if (rest >= minimum) {
        send ledger, eWriteAccount, (account = answer.account, balance = rest);
      }
      send request.client, eReceipt,
        (ticket = answer.ticket, account = answer.account, balance = rest, granted = rest >= minimum);
    }
  }
}

// Withdraws random amounts, one after the other.
machine Client {
  var teller: machine;
  var account: int;
  var ticket: int;
  var left: int;

  start state Init {
    entry (setup: (teller: machine, account: int, first: int, n: int)) {
      teller = setup.teller;
      account = setup.account;
      ticket = setup.first;
      left = setup.n;
      goto Withdraw;
    }
  }

  state Withdraw {
    entry {
      if (left == 0) {
        goto Done;
      }
      left = left - 1;
      send teller, eWithdraw, (client = this, account = account, amount = 1 + choose(5), ticket = ticket);
    }
    on eReceipt do (receipt: tReceipt) {
      assert receipt.ticket == ticket, format("receipt {0} for ticket {1}", receipt.ticket, ticket);
      ticket = ticket + 1;
      goto Withdraw;
    }
  }

  state Done { }
}
