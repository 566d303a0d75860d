// expect: violated assertion late
event eA;
machine Main {
  start state S { defer halt; entry { send this, halt; send this, eA; } on eA goto T; }
  state T { exit { assert false, "late"; } }
}
