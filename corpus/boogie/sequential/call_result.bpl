// safe 1
procedure inc(x: int) returns (y: int) { y := x + 1; }
procedure main() { var r: int; call r := inc(4); assert r == 5; }
