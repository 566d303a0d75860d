// safe 1
procedure main()
{
  var x: int;
  assume x > 3;
  assert x >= 4;
}
