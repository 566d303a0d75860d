// A reader learns: every echo causes another one, so the run never ends; the loop is shaded.
event eCall: Cliff;
event eEcho;

machine Cliff {
  var other: Cliff;
  start state Silent {
    defer eEcho;
    on eCall do (from: Cliff) {
      other = from;
      send other, eEcho;
      goto Sounding;
    }
  }
  state Sounding {
    on eEcho do { send other, eEcho; }
  }
}

machine Main {
  start state Begin {
    entry {
      var left: Cliff;
      var right: Cliff;
      left = new Cliff();
      right = new Cliff();
      send left, eCall, right;
      send right, eCall, left;
    }
  }
}
