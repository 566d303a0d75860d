// fails 5 assert
procedure fact(n: int) returns (r: int) {
  if (n <= 1) { r := 1; } else { call r := fact(n - 1); r := n * r; }
}
procedure main() { var r: int; call r := fact(5); assert r != 120; }
