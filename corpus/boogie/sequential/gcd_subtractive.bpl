// safe 3
procedure gcd(x: int, y: int) returns (r: int)
{
  var a, b: int;
  a, b := x, y;
  while (a != b) { if (a > b) { a := a - b; } else { b := b - a; } }
  r := a;
}
procedure main() { var r: int; call r := gcd(12, 18); assert r == 6; }
