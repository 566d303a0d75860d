// safe 1
procedure main()
{
  var x: bv8;
  assert x[8:4] ++ x[4:0] == x;
  assert 255bv8[8:4] == 15bv4;
}
