// Dekker's protocol, but one looks at the other before it says what it wants.
// preemption: automatic
// check: dfw(0) recursion(2) exit holds
// check: dfw(2) recursion(2) exit fails
// check: child-first(2) recursion(2) exit fails

var wants: [int]bool;
var turn: int;
var owner: int;

procedure worker(me: int)
{
  var other: int;
  other := 1 - me;

  while (wants[other]) {
    if (turn == other) {
      wants[me] := false;
      assume turn == me;
      wants[me] := true;
    }
  }
  wants[me] := true;
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
