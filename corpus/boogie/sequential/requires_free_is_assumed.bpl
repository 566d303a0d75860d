// safe 1
procedure f(x: int) free requires x > 0; { }
procedure main() { call f(0); assert false; }
