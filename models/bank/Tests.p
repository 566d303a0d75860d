// Two or three clients at one or two accounts.

fun Accounts(n: int): map[int, int] {
  var accounts: map[int, int];
  var account: int;
  while (account < n) {
    accounts[account] = 30;
    announce eOpenAccount, (account = account, balance = 30);
    account = account + 1;
  }
  return accounts;
}

fun Clients(teller: machine, n: int, n_accounts: int, n_withdrawals: int) {
  var client: int;
  while (client < n) {
    new Client((teller = teller, account = client - (client / n_accounts) * n_accounts,
      first = client * 1000, n = n_withdrawals));
    client = client + 1;
  }
}

machine OneAccount {
  start state Init {
    entry {
      Clients(new Teller((initial = Accounts(1), minimum = 10)), 3, 1, 8);
    }
  }
}

machine TwoAccounts {
  start state Init {
    entry {
      Clients(new Teller((initial = Accounts(2), minimum = 10)), 2, 2, 8);
    }
  }
}

machine HastyAccount {
  start state Init {
    entry {
      Clients(new HastyTeller((initial = Accounts(1), minimum = 10)), 3, 1, 8);
    }
  }
}

module Bank = { Teller, HastyTeller, Ledger, Client };

test OneSharedAccount [main = OneAccount]: assert Balances, Answers in (union Bank, { OneAccount });
test TwoOwnAccounts [main = TwoAccounts]: assert Balances, Answers in (union Bank, { TwoAccounts });
test HastyTellers [main = HastyAccount]: assert Balances, Answers in (union Bank, { HastyAccount });
