// A reader learns: the second knock arrives while the door is open, a state that does not handle it, and which states do.
event eKnock: int;
event eShut;

machine Door {
  start state Closed {
    on eKnock do (times: int) { goto Open; }
  }
  state Open {
    on eShut goto Closed;
  }
}

machine Visitor {
  start state Begin {
    entry (door: Door) {
      send door, eKnock, 1;
      if ($) { send door, eKnock, 2; } else { send door, eShut; }
    }
  }
}

machine Main {
  start state Begin {
    entry { new Visitor(new Door()); }
  }
}
