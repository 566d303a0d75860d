event eAsk: machine;
event eAnswer: int;
event eIdle;
type tJob = (id: int, size: int);
spec Watch observes eAsk {
  var n: int;
  start state Calm { on eAsk do { n = n + 1; } }
}
machine Server {
  var jobs: map[int, tJob];
  var last: machine;
  var best: Client;
  start state Idle { on eAsk do (who: machine) { last = who; send who, eAnswer, 1; } }
}
machine Client {
  var server: Server;
  var n: int;
  start state Init { entry (s: Server) { server = s; send s, eAsk, this; goto Waiting; } }
  state Waiting { on eAnswer do (k: int) { n = k; } }
}
machine Main {
  start state S { entry { var s: Server; s = new Server(); new Client(s); new Client(s); } }
}
fun Double(n: int): int { return 2 * n; }
fun Send(s: machine): bool { send s, eAsk, s; return true; }
test tcAll [main = Main]: assert Watch in { Main, Server, Client };
