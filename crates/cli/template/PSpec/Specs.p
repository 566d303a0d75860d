// Specs observe messages and cannot change anything.

// Safety: the office never sells more tickets than there are seats.
spec NeverOversold observes eOpened, eTicket {
  var free: int;

  start state Watch {
    on eOpened do (seats: int) {
      free = seats;
    }
    on eTicket do {
      free = free - 1;
      assert free >= 0, "a seat was sold twice";
    }
  }
}

// Liveness: whoever asks gets home in the end. A run must not end, or go on for ever, in a hot state.
spec EveryoneGetsHome observes eHowMany, eHome {
  var waiting: set[Client];

  start cold state Quiet {
    on eHowMany goto Waiting with (client: Client) {
      waiting += (client);
    }
    ignore eHome;
  }

  hot state Waiting {
    on eHowMany do (client: Client) {
      waiting += (client);
    }
    on eHome do (client: Client) {
      waiting -= (client);
      if (sizeof(waiting) == 0) {
        goto Quiet;
      }
    }
  }
}
