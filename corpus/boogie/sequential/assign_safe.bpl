// safe 1
procedure main()
{
  var x: int;
  x := 1;
  x := x + 1;
  assert x == 2;
}
