// safe 1
procedure main()
{
  var m, n: [int]int;
  n := m;
  n[1] := n[1];
  assert m == n;
}
