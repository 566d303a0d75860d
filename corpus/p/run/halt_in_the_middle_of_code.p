// expect: holds
event eA;
machine Main {
  start state S { entry { F(); assert false; } }
  fun F() { raise halt; }
}
