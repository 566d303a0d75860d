// safe 1
procedure main()
{
  var m: []int;
  m[] := 4;
  assert m[] == 4;
}
