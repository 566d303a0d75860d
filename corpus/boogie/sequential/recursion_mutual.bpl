// safe 3
procedure even(n: int) returns (b: bool) { if (n == 0) { b := true; } else { call b := odd(n - 1); } }
procedure odd(n: int) returns (b: bool) { if (n == 0) { b := false; } else { call b := even(n - 1); } }
procedure main() { var b: bool; call b := even(4); assert b; }
