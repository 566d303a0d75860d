// fails 1 assert
procedure main()
{
  var x: int;
  x := 1;
  havoc x;
  assert x == 1;
}
