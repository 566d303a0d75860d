// expect: holds
event eA: int;
machine Main {
  start state S { entry { send this, eA, 2; receive { case eA: (x: int) { goto T, x; } } assert false; } }
  state T { entry (x: int) { assert x == 2; } }
}
