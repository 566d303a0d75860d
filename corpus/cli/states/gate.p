event eOpen: int;
event eShut;
event eTick;

spec Closes observes eOpen, eShut {
  start cold state Shut { on eOpen goto Open; ignore eShut; }
  hot state Open { on eShut goto Shut; ignore eOpen; }
}

machine Gate {
  start state Shut {
    entry { Turn(); }
    on eOpen do (n: int) { Turn(); goto Open; }
    ignore eShut;
  }
  state Open {
    defer eOpen;
    on eShut goto Shut;
    on eTick do { if ($) { goto Stuck; } }
  }
  state Stuck { ignore eOpen, eShut, eTick; }
  fun Turn() { }
}

machine Main {
  start state Begin {
    entry {
      var gate: Gate;
      gate = new Gate();
      send gate, eOpen, 1;
      send gate, eTick;
      send gate, eShut;
    }
  }
}

test tcGate [main = Main]: assert Closes in { Main, Gate };
