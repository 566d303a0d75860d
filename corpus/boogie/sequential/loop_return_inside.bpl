// safe 1
procedure main()
{
  var i: int;
  i := 0;
  while (true) { i := i + 1; if (i == 2) { return; } }
  assert false;
}
