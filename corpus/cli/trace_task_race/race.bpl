// A reader learns: one task writes back what it read before the other one wrote, so one increment is gone.
var x: int;
var done: int;

procedure main()
{
  x := 0;
  done := 0;
  async call increment();
  async call increment();
}

procedure increment()
{
  var seen: int;
  seen := x;
  yield;
  x := seen + 1;
  done := done + 1;
  assert done < 2 || x == 2;
}
