// expect: holds
event eA;
machine Main {
  var k: int;
  start state S { entry { send this, eA; } on eA do { k = k + 1; } on null goto T; }
  state T { ignore eA; entry { assert k == 1; } }
}
