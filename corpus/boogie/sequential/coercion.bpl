// safe 1
procedure main()
{
  var x: int;
  assert (x: int) == x;
}
