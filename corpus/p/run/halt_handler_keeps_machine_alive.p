// expect: holds
event eA;
machine Main {
  var n: int;
  start state S {
    entry { send this, halt; send this, eA; }
    on halt do { n = n + 1; }
    on eA do { assert n == 1; }
  }
}
