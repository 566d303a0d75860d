// fails 1 assert
procedure f() returns (y: int);
implementation f() returns (y: int) { y := 1; }
implementation f() returns (z: int) { z := 2; }
procedure main() { var r: int; call r := f(); assert r == 1; }
