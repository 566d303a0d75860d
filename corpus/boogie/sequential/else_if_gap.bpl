// fails 1 assert
procedure main()
{
  var x, y: int;
  if (x > 10) { y := 3; } else if (x > 5) { y := 2; }
  assert y == 2 || x > 10;
}
