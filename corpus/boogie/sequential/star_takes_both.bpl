// fails 1 assert
procedure main()
{
  var y: int;
  if (*) { y := 1; } else { y := 2; }
  assert y == 2;
}
