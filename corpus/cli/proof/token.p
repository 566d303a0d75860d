// A token goes round three times; nobody has it twice at once.
event eToken: int;
spec OneToken observes eToken {
  var last: int;
  start state Watch { on eToken do (n: int) { assert n == last + 1; last = n; } }
}
machine Main {
  var next: machine;
  start state S {
    entry {
      next = new Other(this);
      send next, eToken, 1;
    }
    on eToken do (n: int) { if (n < 6) { send next, eToken, n + 1; } }
    on halt do { }
  }
}
machine Other {
  var next: machine;
  start state S {
    entry (first: machine) { next = first; }
    on eToken do (n: int) { send next, eToken, n + 1; }
  }
}
