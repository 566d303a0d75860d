// fails 1 assert
procedure main()
{
  var x: int;
  x := 1 div 0;
  assert x == 0;
}
