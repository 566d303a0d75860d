// A reader learns: after 9994 rounds the counter meets its bound; the last rounds are shown, the rest are counted.
event eBall: int;

machine Player {
  var other: Player;
  var seen: int;
  start state Play {
    on eStart do (given: Player) { other = given; }
    on eBall do (n: int) {
      seen = seen + 1;
      assert n < 9994, format("ball {0} is one too many", n);
      send other, eBall, n + 1;
    }
  }
}

event eStart: Player;

machine Main {
  start state Begin {
    entry {
      var left: Player;
      var right: Player;
      left = new Player();
      right = new Player();
      send left, eStart, right;
      send right, eStart, left;
      send left, eBall, 0;
    }
  }
}
