// safe 2
procedure m(n: int) returns (r: int) {
  if (n > 100) { r := n - 10; } else { call r := m(n + 11); call r := m(r); }
}
procedure main() { var r: int; call r := m(100); assert r == 91; }
