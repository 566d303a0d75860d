// expect: violated assertion idle first
event eA;
machine Main {
  var k: int;
  start state S { entry { new W(this); } on eA do { k = 1; } on null goto T; }
  state T { ignore eA; entry { assert k == 1, "idle first"; } }
}
machine W { start state S { entry (m: machine) { send m, eA; } } }
