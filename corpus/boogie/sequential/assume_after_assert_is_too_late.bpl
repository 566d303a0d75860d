// fails 1 assert
procedure main()
{
  var x: int;
  assert x > 3;
  assume x > 3;
}
