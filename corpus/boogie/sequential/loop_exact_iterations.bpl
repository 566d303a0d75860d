// fails 6 assert
procedure main()
{
  var i: int;
  i := 0;
  while (i < 5) { i := i + 1; }
  assert i != 5;
}
