// safe 1
implementation main() { var r: int; call r := f(1); assert r == 2; }
implementation f(a: int) returns (b: int) { b := a + 1; }
procedure f(x: int) returns (y: int);
procedure main();
