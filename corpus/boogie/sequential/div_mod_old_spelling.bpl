// safe 1
procedure main()
{
  var x: int;
  x := 7 / 2;
  assert x == 3;
  assert 7 % 2 == 1;
}
