// fails 1 assert
procedure f(x: int) { assert x > 0; }
procedure main() { call f(1); call f(0); call f(-1); }
