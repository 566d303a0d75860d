// Two clients ask for the only copy at the same time.
event eAsk: machine;
event eLend;
event eGiveBack;

machine Library {
  var n_lent: int;
  start state Open {
    on eAsk do (client: machine) {
      n_lent = n_lent + 1;
      assert n_lent <= 1, format("{0} copies are lent, and there is only one", n_lent);
      send client, eLend;
    }
    on eGiveBack do { n_lent = n_lent - 1; }
  }
}

machine Client {
  var library: machine;
  start state Wait {
    entry (place: machine) {
      library = place;
      send library, eAsk, this;
    }
    on eLend do { send library, eGiveBack; }
  }
}

machine Main {
  start state Begin {
    entry {
      var library: machine;
      library = new Library();
      new Client(library);
      new Client(library);
    }
  }
}
