// safe 1
procedure main()
{
  var m: [int]int;
  assume (forall i, j: int :: i < j ==> m[i] < m[j]);
  assert m[1] < m[2];
}
