// safe 4
procedure main()
{
  var i: int;
  i := 0;
  while (i < 3) { i := i + 1; }
  while (i < 6) { i := i + 1; }
  assert i == 6;
}
