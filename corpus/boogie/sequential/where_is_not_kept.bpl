// fails 1 assert
procedure main()
{
  var x: int where x > 0;
  x := x - 1;
  assert x > 0;
}
