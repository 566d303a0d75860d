// safe 1
procedure main()
{
  var x: int where x > 0;
  x := -1;
  assert x == -1;
}
