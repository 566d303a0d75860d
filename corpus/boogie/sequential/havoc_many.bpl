// fails 1 assert
procedure main()
{
  var x, y: int;
  havoc x, y;
  assert x + y != 11;
}
