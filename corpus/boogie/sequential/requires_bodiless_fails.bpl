// fails 1 requires
procedure f(x: int); requires x > 0;
procedure main() { call f(0); }
