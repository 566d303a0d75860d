// expect: violated assertion kept
event eA; event eB;
machine Main {
  start state First {
    ignore eA;
    entry { send this, eB; send this, eA; }
    on eB goto Second;
  }
  state Second { on eA do { assert false, "kept"; } }
}
