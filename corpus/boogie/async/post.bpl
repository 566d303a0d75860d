// One delay lets a posted task overtake its poster at a yield.
// explore: df(0) exit holds
// explore: df(1) exit fails
// explore: dfw(0) exit holds
// explore: dfw(1) exit fails
// explore: concurrent exit fails
// explore: child-first(1) exit fails

var x: int;

procedure inc()
{
  x := x + 1;
}

procedure {:entrypoint} main()
{
  x := 0;
  call {:async} inc();
  assume {:yield} true;
  assert x == 0;
}
