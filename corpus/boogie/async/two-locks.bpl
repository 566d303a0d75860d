// Money moves between accounts under two locks, taken in the order of the accounts.
// check: dfw(2) recursion(2) exit holds
// check: child-first(2) recursion(2) exit holds

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
  if (from < to) {
    call acquire(from);
    call acquire(to);
  } else {
    call acquire(to);
    call acquire(from);
  }
  a := balance[from];
  yield;
  b := balance[to];
  balance[from] := a - amount;
  yield;
  balance[to] := b + amount;
  call release(from);
  call release(to);
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
