// safe 1
procedure f(x: int) requires x > 0; { assert x >= 1; }
procedure main() { call f(1); }
