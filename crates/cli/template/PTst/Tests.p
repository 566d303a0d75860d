// A test is a main machine that builds the system, the machines in it, and the specs that watch it.

machine OneSeat {
  start state Setup {
    entry {
      var office: Office;
      office = new Office(1);
      new Client(office);
      new Client(office);
    }
  }
}

machine TwoSeats {
  start state Setup {
    entry {
      var office: Office;
      var n: int;
      office = new Office(2);
      while (n < 3) {
        new Client(office);
        n = n + 1;
      }
    }
  }
}

test tcOneSeat [main = OneSeat]: assert NeverOversold, EveryoneGetsHome in { OneSeat, Office, Client };
test tcTwoSeats [main = TwoSeats]: assert NeverOversold, EveryoneGetsHome in { TwoSeats, Office, Client };
