// expect: holds
event eAsk: machine; event eTell: int;
fun Ask(s: machine, me: machine): int {
  var result: int;
  send s, eAsk, me;
  receive { case eTell: (x: int) { result = x; } }
  return result + 1;
}
machine Main {
  start state S {
    entry { var s: machine; s = new Server(); assert Ask(s, this) + Ask(s, this) == 12; }
  }
}
machine Server { start state S { on eAsk do (who: machine) { send who, eTell, 5; } } }
