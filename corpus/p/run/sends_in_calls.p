// expect: holds
// A small function sends while large ones wait for it: what they had beyond their arguments comes back when it returns.
event eValue: int;

machine Main {
  start state Begin {
    entry {
      var sink: machine;
      sink = new Sink();
      outer(sink, 3);
    }
  }

  fun outer(sink: machine, n: int) {
    var a: int; var b: int; var c: int; var d: int;
    a = n; b = a + n; c = b + n; d = c + n;
    tell(sink, a);
    inner(sink, b, c, d);
    assert a + b + c + d == 10 * n;
  }

  fun inner(sink: machine, b: int, c: int, d: int) {
    var i: int;
    while (i < 2) {
      tell(sink, b + i * (d - c));
      i = i + 1;
    }
    assert b < c && c < d;
  }

  fun tell(sink: machine, n: int) {
    send sink, eValue, n;
  }
}

machine Sink {
  var all: seq[int];
  start state Take {
    on eValue do (n: int) {
      all += (sizeof(all), n);
      assert n == 3 * sizeof(all);
    }
  }
}
