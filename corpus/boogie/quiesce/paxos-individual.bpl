// Paxos with one acceptor and one impatient proposer, which proposes again before its proposal is answered.
//~ diverges 2 2 fair
//~ none 1 2 fair
//~ none 2 1 fair
//~ diverges 1 1
var {:shift} gen: int;
var {:shift} proposal: int;
var agreed: int;
var {:shift} prepared: int;
var accepted: int;

procedure {:entrypoint} Main()
  modifies gen, proposal, agreed, prepared, accepted;
{
  gen := 0;
  proposal := 0;
  agreed := 0;
  prepared := 0;
  accepted := 0;
  call {:async} propose();
}

procedure propose()
  modifies gen, proposal, agreed;
{
  gen := gen + 1;
  proposal := gen;
  agreed := 0;
  call {:async} prepare(gen);
  call {:async} propose();
}

procedure prepare({:shift} n: int)
  modifies prepared;
{
  if (prepared < n) {
    prepared := n;
    call {:async} ok(accepted);
  }
}

procedure ok(last: int)
  modifies agreed;
{
  agreed := agreed + 1;
  if (agreed >= 1) {
    call {:async} accept(proposal);
  }
}

procedure accept({:shift} n: int)
  modifies accepted;
{
  if (prepared <= n) {
    accepted := n;
  }
}
