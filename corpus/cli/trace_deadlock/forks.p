// A reader learns: each philosopher holds one fork and waits for the other one's, and which sends led there.
event eTake: Philosopher;
event eTaken;
event eBack;

machine Fork {
  start state Free {
    on eTake do (by: Philosopher) {
      send by, eTaken;
      goto Held;
    }
  }
  state Held {
    defer eTake;
    on eBack goto Free;
  }
}

machine Philosopher {
  start state Hungry {
    entry (forks: (first: Fork, second: Fork)) {
      send forks.first, eTake, this;
      receive { case eTaken: {} }
      send forks.second, eTake, this;
      receive { case eTaken: {} }
      send forks.first, eBack;
      send forks.second, eBack;
    }
  }
}

machine Main {
  start state Begin {
    entry {
      var left: Fork;
      var right: Fork;
      left = new Fork();
      right = new Fork();
      new Philosopher((first = left, second = right));
      new Philosopher((first = right, second = left));
    }
  }
}
