// What is free is assumed, and a free call does not check preconditions.
// explore: concurrent exit holds

procedure p(x: int)
  free requires x > 0;
{
  assert x > 0;
}

procedure q(x: int);
  requires x > 0;

procedure main()
{
  call p(0);
  assert false;
}
