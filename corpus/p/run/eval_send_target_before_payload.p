// expect: holds
event eA: int;
machine Main {
  var t: machine;
  start state S { entry { t = this; send t, eA, Lose(); } on eA do (x: int) { assert x == 3; } }
  fun Lose(): int { t = null as machine; return 3; }
}
