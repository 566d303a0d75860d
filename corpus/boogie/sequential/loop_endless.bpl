// safe 1
procedure main()
{
  var i: int;
  while (true) { i := i + 1; }
  assert false;
}
