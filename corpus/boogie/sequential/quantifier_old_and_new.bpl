// safe 1
var g: [int]int;

procedure main() modifies g;
{
  g[1] := 0;
  assert (forall i: int :: i != 1 ==> g[i] == old(g)[i]);
}
