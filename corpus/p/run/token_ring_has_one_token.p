// expect: holds
event eNext: machine; event eToken: int;
spec One observes eToken { var last: int; start state S { on eToken do (n: int) { assert n == last + 1; last = n; } } }
machine Main {
  start state S {
    entry {
      var a: machine; var b: machine; var c: machine;
      a = new Node(); b = new Node(); c = new Node();
      send a, eNext, b; send b, eNext, c; send c, eNext, a; send a, eToken, 1;
    }
  }
}
machine Node {
  var next: machine;
  start state Init { defer eToken; on eNext goto Run with (m: machine) { next = m; } }
  state Run { on eToken do (n: int) { if (n < 7) { send next, eToken, n + 1; } } }
}
test T [main=Main]: assert One in { Main, Node };
