// safe 1
procedure f(x: int) returns (y: int) free ensures y > x; { }
procedure main() { var r: int; call r := f(0); assert r > 0; }
