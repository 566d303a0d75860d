// Money moves under the lock of the first account only: a concurrent transfer the other way is lost.
// check: dfw(0) recursion(2) exit holds
// check: dfw(1) recursion(2) exit fails
// check: df(4) recursion(2) exit fails
// check: child-first(2) recursion(2) exit fails

var locked: [int]bool;
var balance: [int]int;

procedure acquire(account: int)
{
  yield;
  assume !locked[account];
  locked[account] := true;
}

procedure release(account: int)
{
  assert locked[account];
  locked[account] := false;
}

procedure transfer(from: int, to: int, amount: int)
{
  var a, b: int;
  call acquire(from);
  a := balance[from];
  yield;
  b := balance[to];
  balance[from] := a - amount;
  yield;
  balance[to] := b + amount;
  call release(from);
}

procedure main()
{
  var before: int;
  locked := (lambda i: int :: false);
  before := balance[1] + balance[2];
  async call transfer(1, 2, 5);
  async call transfer(2, 1, 7);
  assume {:waitall} true;
  assert balance[1] + balance[2] == before;
  assert !locked[1] && !locked[2];
}
