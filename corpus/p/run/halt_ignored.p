// expect: holds
event eA;
machine Main {
  var n: int;
  start state S { ignore halt; entry { send this, halt; send this, eA; } on eA do { n = 1; } }
}
