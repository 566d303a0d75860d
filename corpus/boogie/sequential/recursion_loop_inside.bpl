// safe 3
var g: int;
procedure walk(n: int) modifies g; {
  var i: int;
  i := 0;
  while (i < 2) { g := g + 1; i := i + 1; }
  if (n > 1) { call walk(n - 1); }
}
procedure main() modifies g; { g := 0; call walk(3); assert g == 6; }
