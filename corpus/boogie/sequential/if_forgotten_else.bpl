// fails 1 assert
procedure main()
{
  var x, y: int;
  y := 0;
  if (x > 0) { y := 1; }
  assert y == 1;
}
