// safe 1
procedure main()
{
  var x, y: int;
  x, y := 1, 2;
  havoc x;
  assert y == 2;
}
