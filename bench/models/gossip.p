// Peers that tell each other everything they have heard: sets grow to hundreds of elements, and every message carries one.
event eStart: seq[Peer];
event eNews: (from: int, items: set[int]);
event eRound;

machine Main {
  start state Init {
    entry {
      var peers: seq[Peer];
      var i: int;
      while (i < 6) { peers += (i, new Peer((name = i, rounds = 60))); i = i + 1; }
      i = 0;
      while (i < 6) { send peers[i], eStart, peers; i = i + 1; }
    }
  }
}

machine Peer {
  var name: int;
  var left: int;
  var next: int;
  var peers: seq[Peer];
  var heard: set[int];
  var last: map[int, int];
  start state Wait {
    entry (setup: (name: int, rounds: int)) { name = setup.name; left = setup.rounds; }
    defer eNews;
    on eStart do (all: seq[Peer]) { peers = all; goto Talk; }
  }
  state Talk {
    entry { send this, eRound; }
    on eRound do {
      var i: int;
      if (left == 0) { return; }
      left = left - 1;
      while (i < 10) { heard += (name * 1000 + next); next = next + 1; i = i + 1; }
      send peers[(name + left) % sizeof(peers)], eNews, (from = name, items = heard);
      send this, eRound;
    }
    on eNews do (news: (from: int, items: set[int])) {
      var item: int;
      foreach (item in news.items) { heard += (item); }
      last[news.from] = sizeof(heard);
      assert name * 1000 + next > name * 1000 - 1;
    }
  }
}

test Gossip [main = Main]: { Main, Peer };
