// Paxos with one acceptor and two proposers. A proposer whose proposal is declined proposes again, so two of them can
// outbid each other for ever.
//~ none 1 1 fair
//~ diverges 1 2 fair
var {:shift} gen: int;
var {:shift} proposal: [bool]int;
var agreed: [bool]int;
var {:shift} prepared: int;
var accepted: int;

procedure {:entrypoint} Main()
  modifies gen, proposal, agreed, prepared, accepted;
{
  gen := 0;
  proposal[false] := 0;
  proposal[true] := 0;
  agreed[false] := 0;
  agreed[true] := 0;
  prepared := 0;
  accepted := 0;
  call {:async} propose(false);
  call {:async} propose(true);
}

procedure propose(p: bool)
  modifies gen, proposal, agreed;
{
  gen := gen + 1;
  proposal[p] := gen;
  agreed[p] := 0;
  call {:async} prepare(p, gen);
}

procedure prepare(p: bool, {:shift} n: int)
  modifies prepared;
{
  if (prepared >= n) {
    call {:async} declined(p, n);
  } else {
    prepared := n;
    call {:async} ok(p, accepted);
  }
}

procedure ok(p: bool, last: int)
  modifies agreed;
{
  agreed[p] := agreed[p] + 1;
  if (agreed[p] >= 1) {
    call {:async} accept(p, proposal[p]);
  }
}

procedure accept(p: bool, {:shift} n: int)
  modifies accepted;
{
  if (prepared > n) {
    call {:async} declined(p, n);
  } else {
    accepted := n;
  }
}

procedure declined(p: bool, {:shift} n: int)
  modifies gen, proposal, agreed;
{
  call propose(p);
}
