// safe 1
procedure two() returns (a: int, b: int) { a, b := 1, 2; }
procedure main() { var b: int; call *, b := two(); assert b == 2; }
