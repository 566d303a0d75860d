// safe 1
procedure main()
{
  var m, n: [int]int;
  n := m[3 := 4];
  assert n[3] == 4;
  assert (forall i: int :: i != 3 ==> n[i] == m[i]);
}
