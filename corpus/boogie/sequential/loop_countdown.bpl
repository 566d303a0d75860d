// safe 5
procedure main()
{
  var n: int;
  assume n == 4;
  while (n > 0) { n := n - 1; }
  assert n == 0;
}
