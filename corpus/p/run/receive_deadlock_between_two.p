// expect: violated deadlock
event eA: machine; event eB;
machine Main {
  start state S { entry { var p: machine; p = new Peer(this); receive { case eB: { } } } }
}
machine Peer { start state S { entry (m: machine) { receive { case eB: { } } send m, eB; } } }
