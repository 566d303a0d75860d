// safe 1
procedure f(x: int) returns (y: int) ensures y > x; { y := x + 5; }
procedure main() { var r: int; call r := f(0); assert r == 5; }
