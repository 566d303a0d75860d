// expect: holds
event eA; event eB;
machine Main {
  start state First {
    ignore eA;
    entry { send this, eA; send this, eB; }
    on eB goto Second;
  }
  state Second { on eA do { assert false, "ignored message came back"; } }
}
