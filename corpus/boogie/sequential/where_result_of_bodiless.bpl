// safe 1
procedure f() returns (y: int where y > 3);
procedure main() { var r: int; call r := f(); assert r > 3; }
