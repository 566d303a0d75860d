// safe 1
procedure main()
{
  var x, y: int;
  if (x > 10) { y := 3; } else if (x > 5) { y := 2; } else if (x > 0) { y := 1; } else { y := 0; }
  assert (y == 2) <==> (x > 5 && x <= 10);
}
