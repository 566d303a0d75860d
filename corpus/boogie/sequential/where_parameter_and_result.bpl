// safe 1
procedure f(x: int where x > 0) returns (y: int where y > x) { assert x > 0; assert y > x; }
procedure main() { var r: int; call r := f(5); }
