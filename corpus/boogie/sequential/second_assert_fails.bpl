// fails 1 assert
procedure main()
{
  var x: int;
  assume x > 0;
  assert x >= 1;
  assert x >= 2;
}
