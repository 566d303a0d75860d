// fails 1 assert
procedure main()
{
  var x: int;
  assert x == 1;
  assert x == 1;
}
