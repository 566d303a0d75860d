// A yield may allow jumps of certain lengths only, and only under a condition.
// explore: df(1) exit holds
// explore: df(2) exit fails
// explore: dfw(1) exit holds
// explore: dfw(2) exit fails

var x: int;
var open: bool;

procedure inc()
{
  x := x + 1;
}

procedure main()
{
  x, open := 0, true;
  call {:async} inc();
  assume {:yield open, 2, 3} true;
  assert x == 0;
}
