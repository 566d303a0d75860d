// Dekker's protocol with its loop for giving way, preempted before every access.
// preemption: automatic
// check: dfw(2) recursion(2) exit holds
// check: child-first(2) recursion(2) exit holds

var wants: [int]bool;
var turn: int;
var owner: int;

procedure worker(me: int)
{
  var other: int;
  other := 1 - me;
  wants[me] := true;
  while (wants[other]) {
    if (turn == other) {
      wants[me] := false;
      assume turn == me;
      wants[me] := true;
    }
  }
  owner := me;
  assert owner == me;
  turn := other;
  wants[me] := false;
}

procedure main()
{
  wants := (lambda i: int :: false);
  assume turn == 0 || turn == 1;
  async call worker(0);
  async call worker(1);
}
