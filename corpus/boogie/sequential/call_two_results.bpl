// safe 1
procedure divide(a: int, b: int) returns (q: int, r: int) { q := a div b; r := a mod b; }
procedure main() { var q, r: int; call q, r := divide(17, 5); assert q == 3 && r == 2; }
