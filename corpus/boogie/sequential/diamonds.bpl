// safe 1
procedure main()
{
  var x: int;
  x := 0;
  if (*) { x := x + 1; } else { x := x - 1; }
  if (*) { x := x + 1; } else { x := x - 1; }
  if (*) { x := x + 1; } else { x := x - 1; }
  if (*) { x := x + 1; } else { x := x - 1; }
  if (*) { x := x + 1; } else { x := x - 1; }
  if (*) { x := x + 1; } else { x := x - 1; }
  if (*) { x := x + 1; } else { x := x - 1; }
  if (*) { x := x + 1; } else { x := x - 1; }
  if (*) { x := x + 1; } else { x := x - 1; }
  if (*) { x := x + 1; } else { x := x - 1; }
  if (*) { x := x + 1; } else { x := x - 1; }
  if (*) { x := x + 1; } else { x := x - 1; }
  assert x mod 2 == 0 && x <= 12;
}
