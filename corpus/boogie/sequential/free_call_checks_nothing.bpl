// safe 1
procedure f(x: int); requires x > 0;
procedure main() { free call f(1); }
