// safe 1
procedure main()
{
  var i: int;
  i := 9;
  while (i < 5) { i := i + 1; }
  assert i == 9;
}
