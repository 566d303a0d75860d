// fails 1 ensures
procedure f(x: int) returns (y: int) ensures y > x; { y := x; }
procedure main() { var r: int; call r := f(0); }
