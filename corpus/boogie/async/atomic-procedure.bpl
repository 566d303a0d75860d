// No preemption inside a procedure marked `{:atomic}`.
// explore: concurrent exit holds

var x, y: int;

procedure {:atomic} both()
{
  x := x + 1;
  yield;
  y := y + 1;
}

procedure main()
{
  x, y := 0, 0;
  async call both();
  yield;
  assert x == y;
}
