// safe 1
var $m.0, .str, #k, x'y, a~b, c^d, `e, _f, g?: int;
procedure main() modifies $m.0, .str, #k, x'y, a~b, c^d, `e, _f, g?;
{ $m.0 := 1; .str := 2; #k := 3; x'y := 4; a~b := 5; c^d := 6; `e := 7; _f := 8; g? := 9;
  assert $m.0 + .str + #k + x'y + a~b + c^d + `e + _f + g? == 45; }
