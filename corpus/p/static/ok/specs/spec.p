event Request: int; event Reply: int;
spec Answered observes Request, Reply {
  var open: set[int];
  fun Count(): int { return sizeof(open); }
  start state Idle {
    entry { assert Count() == 0; }
    on Request goto Waiting with (id: int) { open += (id); }
    ignore Reply;
  }
  hot state Waiting {
    on Request do (id: int) { open += (id); }
    on Reply do (id: int) { open -= (id); if (sizeof(open) == 0) { goto Idle; } else { raise Reply, id; } }
    exit { }
  }
}
machine Main { start state S { ignore Request, Reply; } }
test T [main=Main]: assert Answered in { Main };
