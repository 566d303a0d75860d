// fails 1 assert
procedure main()
{
  var x: bv8;
  assert x[4:0] == x[8:4];
}
