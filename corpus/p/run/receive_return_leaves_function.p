// expect: holds
event eA;
machine Main {
  start state S { entry { send this, eA; F(); } }
  fun F() { receive { case eA: { return; } } assert false; }
}
