// safe 2
procedure main()
{
  var x: int;
  x := 0;
  goto a, b;
  a: x := x + 1; goto b, c;
  b: assume x < 3; x := x + 2; goto a;
  c: assert x >= 1;
}
