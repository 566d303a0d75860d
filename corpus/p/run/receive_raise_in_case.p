// expect: holds
event eA; event eB;
machine Main {
  var ok: bool;
  start state S {
    entry { send this, eA; receive { case eA: { raise eB; } } assert false; }
    on eB do { ok = true; }
  }
}
