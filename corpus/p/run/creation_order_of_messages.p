// expect: holds
event eA: int;
machine Main {
  var last: int;
  start state S {
    entry { send this, eA, 1; send this, eA, 2; send this, eA, 3; }
    on eA do (n: int) { assert n == last + 1; last = n; }
  }
}
