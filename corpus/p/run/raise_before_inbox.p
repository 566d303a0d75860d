// expect: holds
event eA; event eB;
machine Main {
  var n: int;
  start state S {
    entry { send this, eA; raise eB; }
    on eB do { assert n == 0; n = 1; }
    on eA do { assert n == 1; }
  }
}
