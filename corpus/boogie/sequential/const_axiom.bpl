// safe 4
const n: int; axiom n == 3;
procedure main() { var i: int; i := 0; while (i < n) { i := i + 1; } assert i == 3; }
