event eToken: int; event eStart: machine;

machine Main {
  start state Init {
    entry {
      var a: machine; var b: machine;
      a = new Node(1); b = new Node(2);
      send a, eStart, b; send b, eStart, a; send a, eToken, 3; send b, eToken, 2;
    }
  }
}

machine Node {
  var next: machine; var seen: set[int]; var name: int;
  start state Wait {
    entry (n: int) { name = n; }
    on eStart do (after: machine) { next = after; goto Run; }
    defer eToken;
  }
  state Run { on eToken do (n: int) { seen += (n * 10 + name); if (n > 0) { send next, eToken, n - 1; } } }
}

test tcRing [main = Main]: { Main, Node };
