// safe 1
procedure main()
{
  var x: int;
  assert x * x >= 0;
}
