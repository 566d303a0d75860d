// expect: holds
event eA;
machine Main {
  var n: int;
  start state S { defer eA; entry { send this, eA; } on null goto T; }
  state T { entry { n = 1; } on eA do { assert n == 1; } }
}
