// safe 4
procedure main()
{
  var x: int;
  x := 0;
  head:
  if (x < 3) { x := x + 1; goto head; }
  assert x == 3;
}
