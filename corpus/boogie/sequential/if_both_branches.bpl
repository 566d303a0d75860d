// safe 1
procedure main()
{
  var x, y: int;
  if (x > 0) { y := 1; } else { y := 2; }
  assert y == 1 || y == 2;
}
