// Waiting for all children sees all their effects.
// explore: concurrent exit holds
// explore: dfw(0) exit holds
// explore: dfw(2) exit holds
// explore: df(2) exit holds
// explore: child-first(2) exit holds

var n: int;

procedure inc()
{
  yield;
  n := n + 1;
}

procedure main()
{
  n := 0;
  async call inc();
  async call inc();
  assume {:waitall} true;
  assert n == 2;
}
