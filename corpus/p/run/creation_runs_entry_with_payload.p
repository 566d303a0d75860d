// expect: holds
event eDone: int;
machine Main {
  start state S {
    entry { new Worker((owner = this, n = 3)); receive { case eDone: (x: int) { assert x == 3; } } }
  }
}
machine Worker { start state S { entry (p: (owner: machine, n: int)) { send p.owner, eDone, p.n; } } }
