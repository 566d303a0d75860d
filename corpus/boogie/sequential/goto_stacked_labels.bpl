// safe 1
procedure main()
{
  var x: int;
  x := 0;
  goto two;
  one: two: three: x := x + 1;
  assert x == 1;
}
