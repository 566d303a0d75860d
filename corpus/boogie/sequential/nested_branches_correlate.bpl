// safe 1
procedure main()
{
  var b: bool, x: int;
  x := 0;
  if (b) { x := 1; }
  if (b) { assert x == 1; } else { assert x == 0; }
}
