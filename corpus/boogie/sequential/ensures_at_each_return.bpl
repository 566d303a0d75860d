// fails 1 ensures
procedure f(x: int) returns (y: int) ensures y >= 0;
{ y := 0; if (x > 3) { y := -1; return; } }
procedure main(x: int) { var r: int; call r := f(x); }
