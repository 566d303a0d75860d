// Nobody is let in while the condition of a yield does not hold.
// explore: df(2) exit holds
// explore: concurrent exit holds

var x: int;

procedure inc()
{
  x := x + 1;
}

procedure main()
{
  x := 0;
  call {:async} inc();
  assume {:yield x > 0} true;
  assert x == 0;
}
