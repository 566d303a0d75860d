// What the bank promises.

// A receipt tells the balance that the withdrawals granted so far leave, and no account falls below the minimum.
spec Balances observes eWithdraw, eReceipt, eOpenAccount {
  var balances: map[int, int];
  var pending: map[int, tWithdraw];

  start state Watch {
    on eOpenAccount do (opened: (account: int, balance: int)) {
      balances[opened.account] = opened.balance;
    }
    on eWithdraw do (withdraw: tWithdraw) {
      assert !(withdraw.ticket in pending), format("ticket {0} is used twice", withdraw.ticket);
      pending[withdraw.ticket] = withdraw;
    }
    on eReceipt do (receipt: tReceipt) {
      var request: tWithdraw;
      assert receipt.ticket in pending, format("nobody asked for ticket {0}", receipt.ticket);
      request = pending[receipt.ticket];
      pending -= (receipt.ticket);
      if (receipt.granted) {
        balances[receipt.account] = balances[receipt.account] - request.amount;
      }
      assert !receipt.granted || receipt.balance == balances[receipt.account],
        format("account {0} should have {1}, and the receipt says {2}",
          receipt.account, balances[receipt.account], receipt.balance);
      assert balances[receipt.account] >= 10, format("account {0} has too little", receipt.account);
    }
  }
}

// Every withdrawal gets its receipt.
spec Answers observes eWithdraw, eReceipt {
  var open: int;

  start cold state Quiet {
    on eWithdraw do {
      open = 1;
      goto Busy;
    }
  }

  hot state Busy {
    on eWithdraw do {
      open = open + 1;
    }
    on eReceipt do {
      open = open - 1;
      if (open == 0) {
        goto Quiet;
      }
    }
  }
}
